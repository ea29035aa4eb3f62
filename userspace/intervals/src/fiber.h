/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fibers: stacks that a worker switches between. The scheduler (switching.c) decides where a fiber
 * resumes.
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
	struct ivl_work work;		/* resumes the fiber */
	ivl_runtime *runtime;		/* NULL: a foreign thread, which waits at `word` */
	struct ivl_external *external;	/* that thread's worker; NULL: it only waits */
	const struct ivl_place *place;	/* where it waits and resumes */
	struct ivl_tied *tied;		/* the only worker that may resume it; NULL: any */
	bool exclusive;			/* resumes first (ivl_attached_exclusive()) */
	_Atomic(uint32_t) word;
};

/* At the upper end of its stack. A spawn needs only the first cache line. */
struct ivl_fiber {
	void *sp;			/* saved stack pointer while it does not run */
	struct ivl_local local;
	struct ivl_fiber *next;		/* in a list of free fibers */
	char *lowest;			/* end of the stack; below it memory faults */
	unsigned int depth;		/* nested work-first spawns below it on its worker */
	unsigned int known;		/* the stack's number in valgrind */
	char *mapped;			/* begin of its mapping */
	bool exclusive;			/* its waits are exclusive */
	/*
	 * Twice the number of asyncs that ended on it without their spawner, plus 1 if the running
	 * one is counted by its finish (async.c).
	 */
	_Atomic(uint64_t) ends;
	struct ivl_exceptions exceptions;	/* while it does not run */
	struct ivl_watched *watched;	/* innermost traced task; watch/watch.h */
	struct ivl_waiter waiter;
	/* While it waits: the function that publishes its waiter, and its argument; else NULL. */
	bool (*publish)(void *arg, struct ivl_waiter *waiter);
	void *awaits;
	struct ivl_awaited object;	/* what it waits for, if `awaits` does not tell */
	struct ivl_fiber *made;		/* the fiber made before this one */
#ifdef IVL_ASAN
	void *fake_stack;
	char *highest;
#endif
#ifdef IVL_TSAN
	void *tsan;			/* NULL: none yet */
	unsigned int left;		/* ended uses of `tsan` */
#endif
};

/* What the next context must do for the fiber that was left. */
struct ivl_after {
	struct ivl_fiber *over;		/* it has ended */
	struct ivl_fiber *waits;	/* it waits: publish it */
};

/* The stacks of a runtime. Any thread. */
struct ivl_stacks;

/*
 * `most` is lowered if the kernel does not allow twice as many mappings, or that much address
 * space. NULL: ENOMEM.
 */
struct ivl_stacks *ivl_stacks_create(size_t stack_bytes, unsigned int most);
void ivl_stacks_destroy(struct ivl_stacks *stacks);
/* A list of up to `count` fibers; NULL: `most` are in use, or ENOMEM. */
struct ivl_fiber *ivl_stacks_get(struct ivl_stacks *stacks, unsigned int count);
/* Make sure that a fiber is free, even beyond `most`. False: ENOMEM. */
bool ivl_stacks_exceed(struct ivl_stacks *stacks);
void ivl_stacks_put(struct ivl_stacks *stacks, struct ivl_fiber *list);
unsigned int ivl_stacks_made(struct ivl_stacks *stacks);
/* The newest fiber; older ones follow by `made`. Valid until ivl_stacks_destroy(). */
struct ivl_fiber *ivl_stacks_last(struct ivl_stacks *stacks);

/*
 * Save the registers and store the stack pointer in *save. Continue at `sp`, where `result` is
 * returned from ivl_switch() or ivl_call_on().
 */
long ivl_switch(void **save, void *sp, long result);
/*
 * Call function(arg) on another stack and return its result, unless it never returns and
 * ivl_switch() resumes *save.
 *
 * Normally the called function returns, so that call and return stay paired for the CPU's
 * predictor. *save has the frame that ivl_switch() expects, with meaningless registers: all are
 * clobbered. The caller must not be a leaf function, or it might use the red zone.
 */
static inline long ivl_call_on(void *stack, long (*function)(void *arg), void *arg, void **save);

/* Top of the stack, aligned for a call. */
static inline void *ivl_fiber_stack(struct ivl_fiber *fiber)
{
	return fiber;
}

/*
 * Call before a switch; `ends`: `from` will not resume. ThreadSanitizer must not see a function
 * begin on one stack and end on another.
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

/* Call after it, on the new stack. */
__attribute__((no_sanitize_thread)) static inline void
ivl_fiber_arrive(struct ivl_fiber *fiber, bool first)
{
	(void)fiber, (void)first;
#ifdef IVL_ASAN
	__sanitizer_finish_switch_fiber(first ? NULL : fiber->fake_stack, NULL, NULL);
#endif
}

/*
 * ThreadSanitizer believes that functions on an abandoned fiber continue, and has room for few of
 * them. But a new fiber of its own takes longer than most tasks.
 */
#define IVL_TSAN_TASKS 8

/* The fiber was left for good. */
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
