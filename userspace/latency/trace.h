/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's events of a program, from the kernel's tracefs.
 */
#ifndef FAST_LATENCY_TRACE_H
#define FAST_LATENCY_TRACE_H

#include <sys/types.h>

#include "follow.h"
#include "wakeups.h"

struct trace {
	struct follow follow;
	struct wakeups *wakeups;
};

/*
 * Follows the process and all its future children. On failure the reason is in
 * t->follow.instance.why_not, and the other functions do nothing.
 */
void trace_open(struct trace *t, pid_t pid, struct wakeups *wakeups);
void trace_close(struct trace *t);

/* A region of interest begins. */
void trace_begin(struct trace *t);
/* It ends: its events go to the wake-ups. Slow: the program should be stopped. */
void trace_end(struct trace *t);

#endif
