// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomics.h"
#include "config.h"
#include "scheduler.h"
#include "watch/perfetto.h"

#define SHARED { .lock = PTHREAD_MUTEX_INITIALIZER, .sequence = 1 }

/* Lock order: list, lane, file. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ivl_lane shared = SHARED;
static struct ivl_lane *lanes = &shared;
static uint32_t sequences = 1;
static _Atomic(int) file = -1;		/* written with the lock */
static char name[256];			/* for messages */
static uint64_t written, most;
static _Atomic(uint64_t) dropped;	/* packets */
/* Why writing stopped: an errno value, or FULL (INTERVALS_TRACE_MB). */
static _Atomic(int) failed;
#define FULL (-1)
static bool parents;			/* the file was the parent's, before fork() */

/* Replaces each %p by the process id. */
static int complete_path(const char *pattern, char *path, size_t bytes)
{
	size_t used = 0;

	while (*pattern && used < bytes) {
		if (!strncmp(pattern, "%p", 2)) {
			used += (size_t)snprintf(path + used, bytes - used, "%ld", (long)getpid());
			pattern += 2;
		} else {
			path[used++] = *pattern++;
		}
	}
	if (used >= bytes)
		return ENAMETOOLONG;
	path[used] = 0;
	return 0;
}

static int open_file(const char *pattern)
{
	unsigned int megabytes = 256;
	char path[4096];
	int error = ivl_config_number("INTERVALS_TRACE_MB", 1, &megabytes);

	if (error)
		return error;
	error = complete_path(pattern, path, sizeof(path));
	if (!error) {
		file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		error = file < 0 ? errno : 0;
	}
	if (error)
		return ivl_error(error, "INTERVALS_TRACE=%.128s: %s", pattern, strerror(error));
	snprintf(name, sizeof(name), "%.255s", path);
	most = (uint64_t)megabytes << 20;
	return 0;
}

bool ivl_tracing(void)
{
	/* Opened before the first worker asks. */
	return atomic_load_explicit(&file, memory_order_relaxed) >= 0;
}

/* With the lock. All or nothing: half a packet makes the file unreadable. */
static int write_all(const unsigned char *bytes, size_t count)
{
	for (size_t done = 0; done < count;) {
		const ssize_t more = write(file, bytes + done, count - done);
		const int error = errno;

		if (more > 0) {
			done += (size_t)more;
		} else if (error != EINTR) {
			/* Fails for what is not a regular file. */
			if (ftruncate(file, (off_t)written) || lseek(file, (off_t)written, SEEK_SET) < 0)
				return error;
			return error;
		}
	}
	written += count;
	return 0;
}

/* With the lane's lock. */
static void flush(struct ivl_lane *lane)
{
	/* Must not change the program's errno. */
	const int callers_errno = errno;

	pthread_mutex_lock(&file_lock);
	if (lane->used && !failed && file >= 0)
		failed = write_all(lane->bytes, lane->used);
	if (failed)
		dropped += lane->packets;
	else if (written >= most)
		failed = FULL;
	pthread_mutex_unlock(&file_lock);
	lane->used = 0;
	lane->packets = 0;
	errno = callers_errno;
}

void ivl_lane_append(struct ivl_lane *lane, const unsigned char *packet, size_t bytes)
{
	if (!lane)
		lane = &shared;
	pthread_mutex_lock(&lane->lock);
	if (lane->used + bytes > sizeof(lane->bytes))
		flush(lane);
	/* Relaxed: packets missed here are counted in flush(). */
	if (atomic_load_explicit(&failed, memory_order_relaxed)) {
		atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
	} else {
		memcpy(lane->bytes + lane->used, packet, bytes);
		lane->used += bytes;
		lane->packets++;
	}
	pthread_mutex_unlock(&lane->lock);
}

static void lock_and_flush(struct ivl_lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	flush(lane);
	pthread_mutex_unlock(&lane->lock);
}

/* Flushed at once: later packets may be dropped, but have a process. */
static void describe_process(void)
{
	ivl_perfetto_process();
	lock_and_flush(&shared);
}

int ivl_trace_open(bool *wanted)
{
	/* Not for set-user-ID programs: it truncates the file. */
	const char *pattern = secure_getenv("INTERVALS_TRACE");
	bool first = false;
	int error = 0;

	*wanted = pattern && *pattern && (!parents || strstr(pattern, "%p"));
	if (!*wanted)
		return 0;
	pthread_mutex_lock(&file_lock);
	if (file < 0) {
		error = open_file(pattern);
		first = !error;
	}
	pthread_mutex_unlock(&file_lock);
	if (first)
		describe_process();
	return error;
}

uint32_t ivl_lane_sequence(const struct ivl_lane *lane)
{
	return lane ? lane->sequence : shared.sequence;
}

struct ivl_lane *ivl_lane_create(void)
{
	struct ivl_lane *lane = malloc(sizeof(*lane));

	if (!lane)
		return NULL;
	pthread_mutex_init(&lane->lock, NULL);
	lane->used = 0;
	lane->packets = 0;
	pthread_mutex_lock(&list_lock);
	lane->sequence = ++sequences;
	lane->next = lanes;
	lanes = lane;
	pthread_mutex_unlock(&list_lock);
	return lane;
}

void ivl_lane_destroy(struct ivl_lane *lane)
{
	struct ivl_lane **place = &lanes;

	if (!lane)
		return;
	pthread_mutex_lock(&list_lock);
	while (*place && *place != lane)
		place = &(*place)->next;
	if (*place)
		*place = lane->next;
	pthread_mutex_unlock(&list_lock);
	lock_and_flush(lane);
	pthread_mutex_destroy(&lane->lock);
	free(lane);
}

void ivl_trace_forget(void)
{
	if (file >= 0) {
		parents = true;
		close(file);
	}
	file = -1;
	written = 0;
	dropped = 0;
	failed = 0;
	pthread_mutex_init(&list_lock, NULL);
	pthread_mutex_init(&file_lock, NULL);
	shared = (struct ivl_lane)SHARED;
	lanes = &shared;
}

/* Workers may still run: the program may end without ivl_stop(). */
static void flush_all(void)
{
	pthread_mutex_lock(&list_lock);
	for (struct ivl_lane *lane = lanes; lane; lane = lane->next)
		lock_and_flush(lane);
	pthread_mutex_unlock(&list_lock);
}

static void tell_dropped(void)
{
	char words[64];

	fprintf(stderr, "intervals: trace %s: %" PRIu64 " events were dropped: ", name, dropped);
	if (failed != FULL) {
		fprintf(stderr, "%s\n", strerror(failed));
		return;
	}
	fprintf(stderr, "it has %" PRIu64 " MiB (INTERVALS_TRACE_MB)\n", most >> 20);
	/* In the file, too, which may exceed its limit by that. */
	snprintf(words, sizeof(words), "%" PRIu64 " events were dropped", dropped);
	failed = 0;
	ivl_perfetto_note(words);
	/* Only the note, not the lanes of running workers. */
	lock_and_flush(&shared);
}

/* At exit, or when the library is unloaded. */
__attribute__((destructor)) static void end(void)
{
	if (file < 0)
		return;
	flush_all();
	if (dropped)
		tell_dropped();
	pthread_mutex_lock(&file_lock);
	close(file);
	file = -1;
	pthread_mutex_unlock(&file_lock);
}
