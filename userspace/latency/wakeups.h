/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the scheduler's events to wake-up latencies: the time from the sched_waking of
 * a thread to the sched_switch that puts it onto a CPU.
 */
#ifndef FAST_LATENCY_WAKEUPS_H
#define FAST_LATENCY_WAKEUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "histogram.h"

struct wakeups {
	struct wakeups_thread *threads;	/* by their ids */
	uint32_t gap;
	uint64_t missing;	/* switches onto a CPU without an event */
	struct histogram histogram;
};

/* -1: no memory. */
int wakeups_open(struct wakeups *w);
void wakeups_close(struct wakeups *w);

/* Only the latencies of the program's threads are wanted. */
void wakeups_follow(struct wakeups *w, pid_t tid);

/* Events are missing here: no latency spans this point. */
void wakeups_gap(struct wakeups *w);

/* The events, in their order. */
void wakeups_waking(struct wakeups *w, pid_t tid, uint64_t ns);
/* `runnable`: prev was preempted, it does not sleep. */
void wakeups_switch(struct wakeups *w, pid_t prev, bool runnable, pid_t next, uint64_t ns);

#endif
