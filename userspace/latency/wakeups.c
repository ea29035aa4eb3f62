// SPDX-License-Identifier: GPL-2.0
#include "wakeups.h"

#include <stddef.h>
#include <sys/mman.h>

/* The kernel's PID_MAX_LIMIT. Memory for ids that do not occur is never touched. */
#define THREADS (4u << 20)

enum state {
	UNKNOWN,
	RUNNING,
	WAITING,	/* for a CPU: needs no wake-up */
	ASLEEP,
};

struct wakeups_thread {
	uint64_t woken_ns;	/* 0: not woken */
	uint32_t gap;		/* w->gap at its last event; else its state is unknown */
	uint8_t state;
	bool followed;
};

int wakeups_open(struct wakeups *w)
{
	w->threads = mmap(NULL, THREADS * sizeof(*w->threads), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return w->threads == MAP_FAILED ? -1 : 0;
}

void wakeups_close(struct wakeups *w)
{
	munmap(w->threads, THREADS * sizeof(*w->threads));
}

static struct wakeups_thread *thread_of(struct wakeups *w, pid_t tid)
{
	struct wakeups_thread *thread = &w->threads[(unsigned int)tid % THREADS];

	if (tid <= 0 || !thread->followed)
		return NULL;
	if (thread->gap != w->gap)
		*thread = (struct wakeups_thread){ .gap = w->gap, .followed = true };
	return thread;
}

void wakeups_follow(struct wakeups *w, pid_t tid)
{
	if (tid > 0)
		w->threads[(unsigned int)tid % THREADS].followed = true;
}

void wakeups_gap(struct wakeups *w)
{
	w->gap++;
}

void wakeups_waking(struct wakeups *w, pid_t tid, uint64_t ns)
{
	struct wakeups_thread *thread = thread_of(w, tid);

	if (thread)
		thread->woken_ns = ns;
}

static void leaves(struct wakeups *w, struct wakeups_thread *thread, bool runnable)
{
	bool missed = thread->state == WAITING || thread->state == ASLEEP;

	w->missing += missed;
	/* Runnable: woken before it slept, it ran on, and is preempted now. */
	if (missed || runnable)
		thread->woken_ns = 0;
	thread->state = runnable ? WAITING : ASLEEP;
}

static void enters(struct wakeups *w, struct wakeups_thread *thread, uint64_t ns)
{
	if (thread->woken_ns)
		histogram_add(&w->histogram, ns - thread->woken_ns);
	thread->woken_ns = 0;
	thread->state = RUNNING;
}

void wakeups_switch(struct wakeups *w, pid_t prev, bool runnable, pid_t next, uint64_t ns)
{
	struct wakeups_thread *thread = thread_of(w, prev);

	if (thread)
		leaves(w, thread, runnable);
	thread = thread_of(w, next);
	if (thread)
		enters(w, thread, ns);
}
