/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fibers: stacks that a worker switches between. Where a fiber goes on, and on
 * which worker, is the scheduler's (switching.c).
 */
#ifndef IVL_FIBER_H
#define IVL_FIBER_H

#include <arch.h>
#include <stddef.h>

#include "atomics.h"
#include "exception.h"
#include "scheduler.h"
#include "tunables.h"

#if defined(__SANITIZE_ADDRESS__)
#define IVL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IVL_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define IVL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IVL_TSAN 1
#endif
#endif
#ifdef IVL_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef IVL_TSAN
#include <sanitizer/tsan_interface.h>
#endif

struct ivl_watched;

struct ivl_waiter {
	struct ivl_work work;		/* makes the fiber go on */
	ivl_runtime *runtime;		/* NULL: no fiber, but a foreign thread, at `word` */
	struct ivl_external *external;		/* of that thread; NULL: it only waits */
	const struct ivl_place *place;	/* where it waits, and goes on */
	struct ivl_tied *tied;	/* who alone makes the fiber go on; NULL: anybody */
	bool exclusive;			/* ivl_attached_exclusive(): resumes before all else */
	_Atomic(uint32_t) word;
};

/* At the upper end of its stack. The first line of the cache is what a spawn needs. */
struct ivl_fiber {
	void *sp;			/* where its registers are, while it does not run */
	struct ivl_local local;
	struct ivl_fiber *next;		/* among the free ones */
	char *lowest;			/* of the stack; below it memory faults */
	unsigned int depth;		/* fibers below it on its worker, by work-first spawns */
	unsigned int known;		/* by what number valgrind knows of the stack */
	char *mapped;			/* where its mapping begins */
	bool exclusive;			/* while it waits: ivl_attached_exclusive() */
	/*
	 * Twice the number of asyncs that have ended on it without their spawner;
	 * plus one: the one that runs on it is counted by its finish (finish.c).
	 */
	_Atomic(uint64_t) ends;
	struct ivl_exceptions exceptions;	/* while it does not run */
	struct ivl_watched *watched;	/* the innermost task on it; watch/watch.h */
	struct ivl_waiter waiter;
	/* While it waits, how its waiter is made known, and that function's argument; else NULL. */
	bool (*publish)(void *arg, struct ivl_waiter *waiter);
	void *awaits;
	struct ivl_awaited object;	/* that it waits for, where `awaits` does not say it */
	struct ivl_fiber *made;		/* the one that was made before */
#ifdef IVL_ASAN
	void *fake_stack;
	char *highest;
#endif
#ifdef IVL_TSAN
	void *tsan;			/* NULL: there is none yet */
	unsigned int left;		/* for good, while it was this one */
#endif
};

/* The stacks of a runtime. Any thread. */
struct ivl_stacks;

/*
 * `most`: fewer where the kernel allows a process not twice as many mappings, or as much address
 * space. NULL: ENOMEM.
 */
struct ivl_stacks *ivl_stacks_create(size_t stack_bytes, unsigned int most);
void ivl_stacks_destroy(struct ivl_stacks *stacks);
/* A list of up to `count` fibers; NULL: `most` are in use, or ENOMEM. */
struct ivl_fiber *ivl_stacks_get(struct ivl_stacks *stacks, unsigned int count);
/* There is a fiber to be had, though it be one more than `most`. False: ENOMEM. */
bool ivl_stacks_exceed(struct ivl_stacks *stacks);
/* Give a list back. */
void ivl_stacks_put(struct ivl_stacks *stacks, struct ivl_fiber *list);
/* How many were made. */
unsigned int ivl_stacks_made(struct ivl_stacks *stacks);
/* The last of these; from there on by `made`. They are there until ivl_stacks_destroy(). */
struct ivl_fiber *ivl_stacks_last(struct ivl_stacks *stacks);

/*
 * Save the registers, the stack pointer to *save, and go on where `sp` was saved,
 * with `result` as what ivl_switch() or ivl_call_on() returns there.
 */
long ivl_switch(void **save, void *sp, long result);
/*
 * Call function(arg) on another stack; its result is returned, unless it never
 * returns and somebody has gone on at *save, by ivl_switch().
 *
 * The ordinary way back is the return of what was called: call and return stay
 * paired, so that the CPU predicts them. *save has the frame that ivl_switch()
 * expects; what it takes for registers is nothing, since none is kept over this.
 * The caller must call something else too: else it may use the stack below its end.
 */
static inline long ivl_call_on(void *stack, long (*function)(void *arg), void *arg, void **save);

/* The stack of a fiber at its beginning, aligned for a call. */
static inline void *ivl_fiber_stack(struct ivl_fiber *fiber)
{
	return fiber;
}

/*
 * To be said before a switch; `ends`: the fiber left will not go on. ThreadSanitizer
 * must not see a function begin on one stack and end on another.
 */
__attribute__((no_sanitize_thread)) static inline void
ivl_fiber_leave(struct ivl_fiber *from, struct ivl_fiber *to, bool ends)
{
	(void)from, (void)to, (void)ends;
#ifdef IVL_ASAN
	__sanitizer_start_switch_fiber(ends ? NULL : &from->fake_stack, to->lowest,
				       (size_t)(to->highest - to->lowest));
#endif
#ifdef IVL_TSAN
	if (!to->tsan)
		to->tsan = __tsan_create_fiber(0);
	__tsan_switch_to_fiber(to->tsan, 0);
#endif
}

/* And after it, on the other side. */
__attribute__((no_sanitize_thread)) static inline void
ivl_fiber_arrive(struct ivl_fiber *fiber, bool first)
{
	(void)fiber, (void)first;
#ifdef IVL_ASAN
	__sanitizer_finish_switch_fiber(first ? NULL : fiber->fake_stack, NULL, NULL);
#endif
}

/*
 * ThreadSanitizer believes that the functions on a fiber that was left for good go on, and has no
 * room for too many; but another of its fibers, of nearly a megabyte, takes longer than most tasks.
 */
#define IVL_TSAN_TASKS 8

/* A fiber was left for good. */
static inline void ivl_fiber_over(struct ivl_fiber *fiber)
{
	(void)fiber;
#ifdef IVL_TSAN
	if (++fiber->left < IVL_TSAN_TASKS)
		return;
	__tsan_destroy_fiber(fiber->tsan);
	fiber->tsan = NULL;
	fiber->left = 0;
#endif
}

#endif
