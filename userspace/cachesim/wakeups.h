/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wake-up latencies, by what a guest's kernel executes:
 *
 *	try_to_wake_up(task), which finds that the task is in a state that it is to be woken of
 *	     |
 *	     | latency
 *	     v
 *	switch to the task
 *
 * These are the moments of the tracepoints sched_waking and sched_switch, which fast-latency
 * goes by (userspace/latency/wakeups.h). A task that is woken before it has left its CPU to sleep
 * goes on; what it does not sleep for is no latency. Whether its dequeueing was delayed (EEVDF)
 * makes no difference: it sleeps, and is woken. Being preempted later is no wake-up,
 * nor is the start of a new task.
 *
 * A task belongs to the program to whose address space it has returned last. One that never does,
 * a kernel thread, belongs to none.
 *
 * Tasks are addresses of task_struct. Events are to be told in the order in which they are
 * executed. Their times may be by different CPUs' clocks. Not thread-safe.
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

/* A region of interest begins: forget the wake-ups so far, also those under way. */
void wakeups_begin(struct wakeups *w);

/* The events. They return 0, or -1 without memory. */

/* A task begins; it may lie where another one lay. */
int wakeups_new_task(struct wakeups *w, uint64_t task);
/* It is decided that `task` is woken. */
int wakeups_waking(struct wakeups *w, uint64_t task, uint64_t now_ns);
/* `task`, on its CPU, will not go on when it leaves it. */
int wakeups_sleeps(struct wakeups *w, uint64_t task);
int wakeups_switch(struct wakeups *w, unsigned int cpu, uint64_t prev, uint64_t next,
		   uint64_t now_ns);

/* Is a return of the CPU to a program worth a call of wakeups_return()? */
bool wakeups_expects_return(const struct wakeups *w, unsigned int cpu);
/* `cpu` goes on in a program with that address space. */
void wakeups_return(struct wakeups *w, unsigned int cpu, uint64_t space);

/*
 * Add the latencies of the program with that address space to `out`, in their order; 0 is no
 * program. Returns 0, or -1 without memory.
 */
int wakeups_latencies(const struct wakeups *w, uint64_t program, struct latencies *out);

#endif
