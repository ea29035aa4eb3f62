/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A runtime: what its workers share. */
#ifndef IVL_RUNTIME_H
#define IVL_RUNTIME_H

#include <pthread.h>
#include <sys/types.h>

#include "atomics.h"
#include "blocks.h"
#include "eventcount.h"
#include "intervals.h"
#include "mailbox.h"
#include "timed_sleep.h"
#include "tunables.h"

/* State shared by the workers of a place; an inner place uses only the mailboxes. */
struct ivl_place_state {
	struct ivl_mailbox mailbox;	/* work for this place */
	struct ivl_mailbox high;	/* work of high priority */
	struct ivl_mailbox stackless;	/* work that found no stack */
	/* Workers that search and do not sleep; see idle.c. */
	_Alignas(IVL_LINE) _Atomic(unsigned int) searching;
	struct ivl_sleepers sleepers;
	struct ivl_timed_sleep timed_sleep;
};

/* In ivl_runtime.attention: one piece of mail. */
#define IVL_MAIL (UINT64_C(1) << 32)

struct ivl_runtime {
	struct ivl_config config;
	struct ivl_topology *topology;
	struct ivl_worker *workers;
	_Atomic(struct ivl_external *) externals;	/* list of external workers */
	struct ivl_tied *tied_workers;	/* if config.tied: by worker number; else NULL */
	struct ivl_place_state *place_states;	/* by place number */
	struct ivl_stacks *stacks;
	struct ivl_deadlock *deadlock;	/* NULL: not looked for */
	_Atomic(unsigned int) fibers_before;	/* fibers made before the statistics were reset */
	unsigned int fibers_kept;	/* a worker keeps up to twice as many free fibers */
	struct ivl_stealability *mask;
	struct ivl_depot asyncs;
	struct ivl_pool *shared;	/* queue of all workers; NULL: each has its own */
	struct ivl_feedback *feedback;	/* NULL: no worker is throttled */
	void *model;
	pid_t process;			/* that started it */
	bool watched;			/* its workers are traced */
	bool of_process;		/* ivl_default(): never stopped */
	bool threadless;		/* all its threads are attached (attach.h) */
	void (*no_stack)(void);		/* see ivl_start_threadless() */
	_Atomic(bool) oversubscribed;	/* see ivl_attach_oversubscribed() */
	pthread_mutex_t gate;		/* closed until ivl_start() has succeeded or failed */
	bool failed;			/* the threads at the gate must end */
	unsigned int threads;		/* created, for the first workers */
	uint64_t gate_ns;		/* when it was opened, or last passed */
	uint64_t wakes_ns;		/* of all workers that have passed, from the one before */
	unsigned int passed;
	_Atomic(uint64_t) search_us;	/* see ivl_idle_gate_passed() */
	_Alignas(IVL_LINE) _Atomic(unsigned int) turn;	/* next place for work from outside */
	_Atomic(unsigned int) submitters;	/* in ivl_submit_begin() to _end() */
	_Atomic(uint32_t) submitted;	/* see ivl_submitted_add() */
	/* All that a spawn reads. Lower half: sleeping workers; upper half: see IVL_MAIL. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) attention;
	_Atomic(unsigned int) high;	/* work of high priority; also counted as mail */
	_Atomic(unsigned int) all_asleep;	/* `attention` (lower half) if all sleep */
	_Atomic(unsigned int) refused;	/* work refused because there was no stack */
	_Atomic(bool) stopping;
};

#endif
