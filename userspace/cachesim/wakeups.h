/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wake-up latencies, by what a guest's kernel executes:
 *
 *	try_to_wake_up(task), if the task is in a state of its mask
 *	     |
 *	     | latency
 *	     v
 *	switch to the task
 *
 * These are the times of the tracepoints sched_waking and sched_switch, which fast-latency uses
 * (userspace/latency/wakeups.h). A task that is woken before it has left its CPU goes on, and has
 * no latency. A delayed dequeue (EEVDF) makes no difference: the task sleeps, and is woken. A
 * preemption later is no wake-up, and neither is the start of a new task.
 *
 * A task belongs to the program to whose address space it has returned last. A kernel thread, which
 * never returns to one, belongs to no program.
 *
 * Tasks are addresses of task_struct. The caller reports events in the order of their execution.
 * Their times may be of different CPUs' clocks. Not thread-safe.
 */
#ifndef WAKEUPS_H
#define WAKEUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "latencies.h"

struct wakeups;

/* NULL without memory. */
struct wakeups *wakeups_new(void);

void wakeups_free(struct wakeups *w);

/* A region of interest begins: forget all wake-ups, even if the task does not run yet. */
void wakeups_begin(struct wakeups *w);

/* The events. They return 0, or -1 without memory. */

/* A task begins, perhaps in the memory of an earlier one. */
int wakeups_new_task(struct wakeups *w, uint64_t task);
/* The kernel wakes `task`. */
int wakeups_waking(struct wakeups *w, uint64_t task, uint64_t now_ns);
/* `task` is about to leave its CPU to sleep. */
int wakeups_sleeps(struct wakeups *w, uint64_t task);
int wakeups_switch(struct wakeups *w, unsigned int cpu, uint64_t prev, uint64_t next,
		   uint64_t now_ns);

/* Is a return of the CPU to a program worth a call of wakeups_return()? */
bool wakeups_expects_return(const struct wakeups *w, unsigned int cpu);
/* `cpu` returns to the program with that address space. */
void wakeups_return(struct wakeups *w, unsigned int cpu, uint64_t space);

/*
 * Add the latencies of the program with that address space to `out`, in their order; 0 is no
 * program. Returns 0, or -1 without memory.
 */
int wakeups_latencies(const struct wakeups *w, uint64_t program, struct latencies *out);

#endif
