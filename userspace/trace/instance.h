/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instance of the kernel's tracefs: buffers and settings of our own, so that we
 * disturb no other tracing.
 *
 * What cannot be done is in why_not, the first such reason; "" while all is well. Those that
 * return bool return whether it could. Not thread-safe.
 */
#ifndef FAST_TRACE_INSTANCE_H
#define FAST_TRACE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct instance {
	struct tracefs_instance *tracefs;	/* NULL: there is none */
	int on;					/* the file tracing_on */
	char why_not[160];
};

/*
 * Make one that records nothing yet, by the clock CLOCK_MONOTONIC. It has the program's name and
 * its process's number; what a killed one of that name has left behind is removed.
 */
bool instance_open(struct instance *i, const char *program);
void instance_close(struct instance *i);

/* How large the buffer of each CPU is made, by what /proc/meminfo says. */
size_t instance_buffer_kb(FILE *meminfo, size_t cpus);

/* To one of its files. */
bool instance_put(struct instance *i, const char *file, const char *text);

/* `filter` is as in Documentation/trace/events.rst, or NULL. */
bool instance_enable(struct instance *i, const char *system, const char *event,
		     const char *filter);

/* Record from now on, or no more. */
bool instance_record(struct instance *i, bool on);

/* Gives up if events found no room. To be called when nothing is recorded. */
void instance_look_for_losses(struct instance *i);

/* Give up for this reason, if it is the first. Returns false. */
__attribute__((format(printf, 2, 3)))
bool instance_give_up(struct instance *i, const char *format, ...);

#endif
