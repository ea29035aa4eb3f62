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
#include <stdint.h>
#include <stdio.h>

struct instance {
	struct tracefs_instance *tracefs;	/* NULL: there is none */
	int on;					/* the file tracing_on */
	size_t buffer_kb;			/* of each CPU, in KiB */
	char why_not[160];
};

/*
 * Make one that records nothing yet, by the clock CLOCK_MONOTONIC. It has the program's name and
 * its process's number; what a killed one of that name has left behind is removed. `kb` is the
 * size of the buffer of each CPU in KiB; 0: what instance_buffer_kb() says. A buffer that is full
 * keeps what is in it.
 */
bool instance_open(struct instance *i, const char *program, size_t kb);
void instance_close(struct instance *i);

/* How large the buffer of each CPU is made by default, by what /proc/meminfo says. */
size_t instance_buffer_kb(FILE *meminfo, size_t cpus);

/* To one of its files. */
bool instance_put(struct instance *i, const char *file, const char *text);

/* `filter` is as in Documentation/trace/events.rst, or NULL. */
bool instance_enable(struct instance *i, const char *system, const char *event,
		     const char *filter);

/* Record from now on, or no more. */
bool instance_record(struct instance *i, bool on);

/*
 * How many events of the CPU found no room in its buffer. From the first of them on the buffer has
 * none of that CPU. To be called when nothing is recorded.
 */
uint64_t instance_lost(const struct instance *i, long cpu);

/* Give up for this reason, if it is the first. Returns false. */
__attribute__((format(printf, 2, 3)))
bool instance_give_up(struct instance *i, const char *format, ...);

#endif
