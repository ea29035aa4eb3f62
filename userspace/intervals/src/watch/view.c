// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomics.h"
#include "clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ivl_view_counts *all;	/* of live workers */
static struct ivl_view_counts gone;	/* sum of all destroyed ones */
static _Atomic(int) file = -1;		/* written with the lock */
static uint64_t clock_ns;		/* cost of reading the clock */
static uint64_t most_held_ns;		/* maximum over guards, and its name */
static char most_held[128];

static uint64_t now_ns(void)
{
	/* Not the scheduler's clock, which tests replace. */
	return ivl_clock_ns(CLOCK_MONOTONIC_RAW);
}

/* The minimum of many, since other threads may run. */
static uint64_t measure_clock(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		const uint64_t begin = now_ns(), took = now_ns() - begin;

		least = took < least ? took : least;
	}
	return least;
}

int ivl_view_open(bool *wanted)
{
	/* Not for set-user-ID programs. */
	const char *path = secure_getenv("INTERVALS_VIEW");
	int error = 0;

	*wanted = path && *path;
	if (!*wanted)
		return 0;
	pthread_mutex_lock(&lock);
	if (file < 0) {
		/* Appended: child processes may write to the same file. */
		file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		error = file < 0 ? errno : 0;
		clock_ns = measure_clock();
	}
	pthread_mutex_unlock(&lock);
	return error ? ivl_error(error, "INTERVALS_VIEW=%.128s: %s", path, strerror(error)) : 0;
}

bool ivl_viewing(void)
{
	/* Opened before the first worker asks. */
	return atomic_load_explicit(&file, memory_order_relaxed) >= 0;
}

void ivl_view_forget(void)
{
	if (file >= 0)
		close(file);
	file = -1;
	all = NULL;
	gone = (struct ivl_view_counts){ 0 };
	most_held_ns = 0;
	most_held[0] = 0;
	pthread_mutex_init(&lock, NULL);
}

/* Strands. since: begin of the running one; 0: none. */

void ivl_view_go(struct ivl_watched *task)
{
	task->since = now_ns();
}

static void count(uint64_t *what, uint64_t more)
{
	__atomic_store_n(what, *what + more, __ATOMIC_RELAXED);
}

static void lengthen(uint64_t *what, uint64_t to)
{
	if (to > *what)
		__atomic_store_n(what, to, __ATOMIC_RELAXED);
}

void ivl_view_stop(struct ivl_watched *task, struct ivl_view_counts *counts)
{
	uint64_t took = now_ns() - task->since;

	took = took > clock_ns ? took - clock_ns : 0;
	task->since = 0;
	task->span.ns += took;
	task->span.burdened_ns += took;
	count(&counts->work_ns, took);
	lengthen(&counts->longest.ns, task->span.ns);
	lengthen(&counts->longest.burdened_ns, task->span.burdened_ns);
	lengthen(&counts->longest.tasks, task->span.tasks);
}

void ivl_view_add(struct ivl_view_counts *counts)
{
	pthread_mutex_lock(&lock);
	counts->next = all;
	all = counts;
	pthread_mutex_unlock(&lock);
}

static void add_up(struct ivl_view_counts *sum, const struct ivl_view_counts *counts)
{
	const struct ivl_span longest = {
		__atomic_load_n(&counts->longest.ns, __ATOMIC_RELAXED),
		__atomic_load_n(&counts->longest.burdened_ns, __ATOMIC_RELAXED),
		__atomic_load_n(&counts->longest.tasks, __ATOMIC_RELAXED),
	};

	sum->work_ns += __atomic_load_n(&counts->work_ns, __ATOMIC_RELAXED);
	sum->tasks += __atomic_load_n(&counts->tasks, __ATOMIC_RELAXED);
	ivl_span_reach(&sum->longest, &longest);
}

void ivl_view_remove(struct ivl_view_counts *counts)
{
	struct ivl_view_counts **place = &all;

	pthread_mutex_lock(&lock);
	while (*place && *place != counts)
		place = &(*place)->next;
	if (*place) {
		*place = counts->next;
		add_up(&gone, counts);
	}
	pthread_mutex_unlock(&lock);
}

void ivl_view_held(const char *guard, uint64_t ns)
{
	pthread_mutex_lock(&lock);
	if (ns > most_held_ns) {
		most_held_ns = ns;
		snprintf(most_held, sizeof(most_held), "%s", guard);
	}
	pthread_mutex_unlock(&lock);
}

void ivl_view_read(struct ivl_view *view)
{
	struct ivl_view_counts sum;

	pthread_mutex_lock(&lock);
	sum = gone;
	for (struct ivl_view_counts *counts = all; counts; counts = counts->next)
		add_up(&sum, counts);
	*view = (struct ivl_view){ .work_ns = sum.work_ns, .tasks = sum.tasks,
				   .span = sum.longest, .held_ns = most_held_ns };
	memcpy(view->held, most_held, sizeof(view->held));
	pthread_mutex_unlock(&lock);
}

/* For intervals-view: one line by one write, since several processes may append. */
__attribute__((destructor)) static void tell(void)
{
	struct ivl_view view;
	char line[512];
	int bytes;

	if (file < 0)
		return;
	ivl_view_read(&view);
	bytes = snprintf(line, sizeof(line),
			 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			 " %s\t%s\n", view.work_ns, view.span.ns, view.span.burdened_ns,
			 view.tasks, view.span.tasks, view.held_ns,
			 program_invocation_short_name, view.held);
	if (bytes >= (int)sizeof(line) || write(file, line, (size_t)bytes) != bytes)
		fprintf(stderr, "intervals: INTERVALS_VIEW: %s\n", strerror(errno));
	close(file);
	file = -1;
}
