// SPDX-License-Identifier: GPL-2.0
#include "follow.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool learn_pages(struct follow *f)
{
	int size;
	char *format = tracefs_instance_file_read(NULL, "events/header_page", &size);
	bool known = format && !tep_parse_header_page(f->formats, format, (unsigned long)size,
						      sizeof(long));

	free(format);
	return known ||
	       instance_give_up(&f->instance, "tracefs: events/header_page cannot be read");
}

/* The ids of a process's threads, with a space behind each. NULL: it has ended, or no memory. */
static char *threads_of(pid_t pid)
{
	char path[32], *text = NULL;
	struct dirent *entry;
	DIR *directory;
	size_t size;
	FILE *ids;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	directory = opendir(path);
	if (!directory)
		return NULL;
	ids = open_memstream(&text, &size);
	while (ids && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			fprintf(ids, "%s ", entry->d_name);
	closedir(directory);
	if (ids)
		fclose(ids);
	return text;
}

static bool follow_threads(struct follow *f, pid_t pid)
{
	char *ids = threads_of(pid);
	bool followed = ids && instance_put(&f->instance, "set_event_pid", ids);

	free(ids);
	return followed || instance_give_up(&f->instance, "process %d has ended", (int)pid);
}

static bool set_up(struct follow *f, pid_t pid)
{
	f->formats = tep_alloc();
	if (!f->formats)
		return instance_give_up(&f->instance, "tracefs: no memory for the formats of events");
	tep_set_file_bigendian(f->formats, tep_is_local_bigendian(f->formats));
	if (tracefs_option_enable(f->instance.tracefs, TRACEFS_OPTION_EVENT_FORK))
		return instance_give_up(&f->instance, "tracefs: the kernel has no option event-fork");
	/* Twice: a thread that was not followed yet may have started one meanwhile. */
	return follow_threads(f, pid) && follow_threads(f, pid) && learn_pages(f);
}

bool follow_open(struct follow *f, const char *program, pid_t pid)
{
	*f = (struct follow){ .formats = NULL };
	if (!instance_open(&f->instance, program, 0))
		return false;
	if (set_up(f, pid))
		return true;
	follow_close(f);
	return false;
}

void follow_close(struct follow *f)
{
	if (f->formats)
		tep_free(f->formats);
	f->formats = NULL;
	instance_close(&f->instance);
}

/*
 * tracefs_local_events_system() would read the formats of all events, and every symbol
 * of the kernel along with them.
 */
bool follow_enable(struct follow *f, const char *system, const char *event, const char *filter)
{
	int size;
	char *format = tracefs_event_file_read(NULL, system, event, "format", &size);
	bool known = format && !tep_parse_event(f->formats, format, (unsigned long)size, system);

	free(format);
	if (!known)
		return instance_give_up(&f->instance, "tracefs: the kernel has no event %s:%s",
					system, event);
	return instance_enable(&f->instance, system, event, filter);
}

bool follow_read(struct follow *f, follow_take *take, void *context)
{
	if (!tracefs_iterate_raw_events(f->formats, f->instance.tracefs, NULL, 0, take, context))
		return true;
	return instance_give_up(&f->instance, "tracefs: the events cannot be read: %s",
				strerror(errno));
}
