/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instance of the kernel's tracefs: buffers and settings of its own, which disturb no
 * other tracing.
 *
 * why_not is the reason of the first failure, "" without one. A function that returns bool
 * returns false on failure. Not thread-safe.
 */
#ifndef FAST_TRACE_INSTANCE_H
#define FAST_TRACE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct instance {
	struct tracefs_instance *tracefs;	/* NULL: none */
	int on;					/* the file tracing_on */
	size_t buffer_kb;			/* of each CPU, in KiB */
	char why_not[160];
};

/*
 * Make an instance that records nothing yet, with the clock CLOCK_MONOTONIC. It is named after the
 * program and its process; instances of killed processes of that program are removed. `kb` is the
 * size of the buffer of each CPU in KiB; 0: instance_buffer_kb(). A full buffer keeps its events.
 */
bool instance_open(struct instance *i, const char *program, size_t kb);
void instance_close(struct instance *i);

/* The default size of each CPU's buffer, by /proc/meminfo. */
size_t instance_buffer_kb(FILE *meminfo, size_t cpus);

/* Write to one of its files. */
bool instance_put(struct instance *i, const char *file, const char *text);

/* `filter` is as in Documentation/trace/events.rst, or NULL. */
bool instance_enable(struct instance *i, const char *system, const char *event,
		     const char *filter);

/* Start or stop recording. */
bool instance_record(struct instance *i, bool on);

/*
 * The number of events of the CPU that found no room in its buffer, which has none after the first
 * of them. To be called while nothing is recorded.
 */
uint64_t instance_lost(const struct instance *i, long cpu);

/* Give up for this reason, if it is the first. Returns false. */
__attribute__((format(printf, 2, 3)))
bool instance_give_up(struct instance *i, const char *format, ...);

#endif
