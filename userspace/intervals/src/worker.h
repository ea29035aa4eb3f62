/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workers: the threads of a runtime, what each has, and how it goes on.
 *
 * A worker's thread begins on its base, the stack the system gave it. There it
 * looks for work, and runs what it finds on a fiber. A fiber whose work is over
 * runs what is in its worker's own queue, and goes back to the base when that is
 * empty; so does a fiber that must wait. The base runs nothing itself, and never
 * waits: on top of what waits there, work that it waits for could wait for it.
 */
#ifndef IVL_WORKER_H
#define IVL_WORKER_H

#include <pthread.h>

#include "atomics.h"
#include "blocks.h"
#include "eventcount.h"
#include "fiber.h"
#include "place.h"
#include "pool.h"
#include "scheduler.h"
#include "victim.h"

#define IVL_ASYNC_BYTES 192		/* of an async that is kept in a block */

/* What the context that goes on must do for the one that was left. */
struct ivl_after {
	struct ivl_fiber *over;		/* this fiber has ended */
	struct ivl_fiber *waits;	/* this fiber waits: publish it */
	bool (*publish)(void *arg, struct ivl_waiter *waiter);
	void *arg;
};

struct ivl_worker {
	/* Of its own thread alone. */
	struct ivl_chase_lev *deque;	/* the pool's, where nothing stands between; else NULL */
	struct ivl_pool *pool;
	struct ivl_fiber *fiber;	/* that runs */
	struct ivl_work *next;		/* comes before what is in the queue; or NULL */
	struct ivl_fiber *free;
	struct ivl_exceptions *exceptions;	/* of its thread; NULL: no C++ */
	unsigned int returned;		/* fibers since it was seen to that these are not many */
	unsigned int passed;		/* how often it could have looked for mail that is there */
	bool mail_first;		/* it is its turn now */
	bool spawns_work_first;		/* the policy for spawns */
	bool help_first;		/* that for asyncs, or the adaptive one's present choice */
	bool adapts;			/* the policy is adaptive */
	unsigned int depth_most;	/* where help-first must be chosen */
	size_t fresh_most;		/* tasks in the queue, from where work-first must */
	unsigned int until;		/* spawns left before the choice is looked at again */
	uint64_t lost_before;		/* `lost` when it was looked at last */
	struct ivl_after after;
	/* Counts of `credit` that this worker took ahead and has not used (finish.c). */
	struct ivl_finish *credit;
	unsigned int credits;
	/* Children of `parent` that have ended here, of which it has not heard (interval.c). */
	struct ivl_interval *parent;
	unsigned int ended;
	unsigned int references;	/* to `parent`, taken ahead */
	uint64_t stolen_ns;		/* when what runs was stolen; 0: it was not */
	uint64_t pause_ns;		/* before the next steal */
	struct ivl_magazines asyncs;
	struct ivl_statistics *statistics;	/* NULL: none are kept */
	ivl_runtime *runtime;
	struct ivl_chooser *chooser;
	struct ivl_stealability *mask;	/* NULL: nobody asks for it */
	const struct ivl_place *place;
	struct ivl_fiber base;
	unsigned int number;
	pthread_t thread;
	struct ivl_statistics counts;

	/* Of thieves: how often this worker was stolen from. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) lost;
};

/* Work that anybody may put in, first in first out. */
struct ivl_mailbox {
	_Alignas(IVL_LINE) struct cds_wfcq_tail tail;
	_Alignas(IVL_LINE) struct cds_wfcq_head head;
	_Atomic(bool) taken;		/* one worker at a time looks into it */
};

/* The workers of a leaf, together. */
struct ivl_hall {
	struct ivl_mailbox mailbox;	/* foreign work and work for this place */
	struct ivl_mailbox stackless;	/* what was to be run when no stack was left */
	/* Workers that look for work and are not asleep; see idle.c. */
	_Alignas(IVL_LINE) _Atomic(unsigned int) searching;
	_Atomic(unsigned int) asleep;
	struct ivl_eventcount eventcount;
};

/* In ivl_runtime.attention: one piece of work in a mailbox. */
#define IVL_MAIL (UINT64_C(1) << 32)

struct ivl_runtime {
	struct ivl_config config;
	struct ivl_topology *topology;
	struct ivl_worker *workers;
	struct ivl_hall *halls;		/* one per leaf */
	struct ivl_stacks *stacks;
	unsigned int fibers_kept;	/* free ones by a worker, which has up to twice as many */
	struct ivl_stealability *mask;
	struct ivl_depot asyncs;
	struct ivl_pool *shared;	/* of all workers; NULL: each has its own */
	void *model;
	pid_t process;			/* that started it */
	pthread_mutex_t gate;		/* closed until all threads of ivl_start() are there */
	_Alignas(IVL_LINE) _Atomic(unsigned int) turn;	/* the place of the next work from outside */
	/* All that a spawn looks at: below, how many workers are asleep; above, see IVL_MAIL. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) attention;
	unsigned int all_asleep;	/* what is below when none is awake */
	_Atomic(bool) stopping;
};

/* Look again at what the adaptive policy chooses; every adapt_interval asyncs. */
void ivl_adapt(struct ivl_worker *worker);

/*
 * Is the next async help-first? SLAW's algorithm 1, rule a: where the stack is
 * deep it must be, where there are many fresh tasks it must not be; else as the
 * last steals suggest.
 */
static inline bool ivl_asyncs_help_first(struct ivl_worker *worker)
{
	if (worker->fiber->depth >= worker->depth_most)
		return true;
	if (--worker->until == 0)
		ivl_adapt(worker);
	return worker->help_first && ivl_pool_size(worker->pool) < worker->fresh_most;
}

extern __thread struct ivl_worker *ivl_worker_self __attribute__((tls_model("initial-exec")));

/*
 * The calling thread's worker, NULL for a foreign one. A fiber may go on in
 * another thread after any switch, and the compiler must not remember the
 * address of a thread's variable from before; it cannot see through this.
 */
static inline struct ivl_worker *ivl_self(void)
{
	struct ivl_worker *worker;

	__asm__ volatile("movq ivl_worker_self@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
			 : "=r"(worker));
	return worker;
}

#define ivl_count(worker, what) \
	do { \
		if ((worker)->statistics) \
			__atomic_store_n(&(worker)->statistics->what, \
					 __atomic_load_n(&(worker)->statistics->what, \
							 __ATOMIC_RELAXED) + 1, \
					 __ATOMIC_RELEASE); \
	} while (0)

/* False: none is left, or ENOMEM. */
bool ivl_fiber_refill(struct ivl_worker *worker);

/* Is a fiber there? Then it stays so until the worker takes it. */
static inline bool ivl_fiber_there(struct ivl_worker *worker)
{
	return __builtin_expect(worker->free != NULL, 1) || ivl_fiber_refill(worker);
}

/* A fiber; NULL: as above. */
static inline struct ivl_fiber *ivl_fiber_get(struct ivl_worker *worker)
{
	struct ivl_fiber *fiber;

	if (!ivl_fiber_there(worker))
		return NULL;
	fiber = worker->free;
	worker->free = fiber->next;
	return fiber;
}

void ivl_fiber_put(struct ivl_worker *worker, struct ivl_fiber *fiber);

/* After a switch, on the side where it goes on. */
void ivl_switched(void);

/* Go on with another fiber; the running one has ended. */
_Noreturn void ivl_end_with(struct ivl_worker *worker, struct ivl_fiber *next);

/*
 * On a fiber whose work is over: run `work`, if any, then what is in the worker's
 * queue, until there is nothing.
 */
_Noreturn void ivl_fiber_loop(struct ivl_work *work);

/* A child has ended without its spawner: `waiter`, if it was the last, goes on; else `taken`. */
_Noreturn void ivl_end_child(struct ivl_waiter *waiter, struct ivl_work *taken);

/* Go on with a fiber that waits for nothing more, from the base or a fiber that is over. */
void ivl_resume(struct ivl_worker *worker, struct ivl_fiber *fiber);

/* As ivl_wait(), of the fiber that runs. */
void ivl_suspend(struct ivl_worker *worker, bool (*publish)(void *arg, struct ivl_waiter *waiter),
		 void *arg);

/*
 * At the base: run `work` on a fiber, and all that follows from it; or keep it until there
 * is a stack for it.
 */
void ivl_run_work(struct ivl_worker *worker, struct ivl_work *work);
/* No stack can be had, and what runs does not give one back: it ends without having run. */
void ivl_refuse(struct ivl_work *work);
/* Parts of it, by who made the work: false: another has. */
bool ivl_refuse_interval(struct ivl_work *work);
bool ivl_refuse_async(struct ivl_work *work);
bool ivl_refuse_child(struct ivl_work *work);

/* Work that makes a fiber go on, and needs none itself, has one of these as its run(). */
void ivl_resume_waiter(struct ivl_work *work);
void ivl_resume_spawner(struct ivl_work *work);
void ivl_resume_asyncer(struct ivl_work *work);

/*
 * Call child_main(task) on a fiber of its own, which puts task's work, the caller,
 * into the queue. Returns when that is taken: by child_main(), which then calls
 * ivl_back_to_spawner() and returns, or by others (ivl_resume()). ENOMEM: no
 * fiber, or what child_main() returned. context[0] is the caller's fiber.
 */
int ivl_work_first(struct ivl_worker *worker, struct ivl_task *task,
		   long (*child_main)(void *task));

/* Exceptions belong to the fiber: the running one's away, and those of the next there. */
static inline void ivl_leave_exceptions(struct ivl_worker *worker, struct ivl_fiber *fiber)
{
	if (__builtin_expect(worker->exceptions != NULL, 0))
		fiber->exceptions = *worker->exceptions;
}

static inline void ivl_enter_exceptions(struct ivl_worker *worker, const struct ivl_fiber *fiber)
{
	if (__builtin_expect(worker->exceptions != NULL, 0))
		*worker->exceptions = fiber->exceptions;
}

static inline void ivl_back_to_spawner(struct ivl_worker *worker, struct ivl_fiber *spawner)
{
	struct ivl_fiber *child = worker->fiber;

	worker->fiber = spawner;
	ivl_enter_exceptions(worker, spawner);
	/* Nearly always the list is as when the child was taken from it. */
	if (__builtin_expect(child->next == worker->free, 1))
		worker->free = child;
	else
		ivl_fiber_put(worker, child);
}

/* Give back the counts taken ahead, which hold up their finish; finish.c */
void ivl_return_credit(struct ivl_worker *worker);
/* Is this an async of the finish whose counts the worker has? */
bool ivl_uses_credit(struct ivl_worker *worker, struct ivl_work *work);
/* Tell the parent of its children that have ended, which hold it up; interval.c */
void ivl_tell_ended(struct ivl_worker *worker, bool leaves);
/* Is this another child of the parent that has not heard of all? */
bool ivl_is_sibling(struct ivl_worker *worker, struct ivl_work *work);

/*
 * Before the worker runs `work`, or sleeps (NULL): others wait for what it has counted
 * for itself alone, unless `work` does too. True: somebody has heard, and may go on.
 */
static inline bool ivl_hold_nothing_back(struct ivl_worker *worker, struct ivl_work *work)
{
	const bool credit = worker->credit && !(work && ivl_uses_credit(worker, work));
	const bool ended = worker->parent && !(work && ivl_is_sibling(worker, work));

	if (credit)
		ivl_return_credit(worker);
	if (ended)
		ivl_tell_ended(worker, !work);
	return credit || ended;
}

/* To the mailbox of a place. */
void ivl_post(ivl_runtime *runtime, struct ivl_work *work, const struct ivl_place *place);
/* Where work waits for a stack: who of this place has one begins it. */
void ivl_post_stackless(struct ivl_worker *worker, struct ivl_work *work);
/*
 * By the last that is awake: all that runs waits, and may wait for what has no stack.
 * Make one more, or refuse some work. True: there is something to do now.
 */
bool ivl_serve_stackless(ivl_runtime *runtime);

/* How many bytes of the running fiber's stack are left. */
static inline size_t ivl_stack_left(struct ivl_worker *worker)
{
	char *top;

	/* __builtin_frame_address() would make a frame for every caller. */
	__asm__("movq %%rsp, %0" : "=r"(top));
	return (size_t)(top - worker->fiber->lowest);
}

/* idle.c: somebody who can get at work put at this place should be awake. */
void ivl_idle_wake(ivl_runtime *runtime, const struct ivl_place *place);
/* No work was found: search, sleep, and return with some. NULL: the runtime stops. */
struct ivl_work *ivl_idle(struct ivl_worker *worker);

/* Look for work once, everywhere it may be; NULL: none. */
struct ivl_work *ivl_find(struct ivl_worker *worker);
/* Is there any, as far as one can see without taking it? */
bool ivl_anything(struct ivl_worker *worker);

/* The thread of a worker. */
void *ivl_worker_main(void *worker);

/* As the next two, whatever the queue is, and whoever wants to hear of it. */
int ivl_put_slowly(struct ivl_worker *worker, struct ivl_work *work);
struct ivl_work *ivl_take_slowly(struct ivl_worker *worker);
int ivl_idle_wake_near(struct ivl_worker *worker);	/* 0 */

/* False: only ivl_put_slowly() can. */
static inline bool ivl_try_put(struct ivl_worker *worker, struct ivl_work *work)
{
	return __builtin_expect(worker->deque && ivl_chase_lev_try_put(worker->deque, work), 1);
}

/* Somebody should be awake for it: attend(worker), where there is something to see to; or 0. */
static inline int ivl_after_put(struct ivl_worker *worker, int (*attend)(struct ivl_worker *))
{
	/*
	 * No fence between the put and this load: a worker that goes to sleep
	 * has all CPUs of the process pass one (membarrier() in idle.c). The
	 * compiler must keep their order.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&worker->runtime->attention,
						  memory_order_relaxed) != 0, 0))
		return attend(worker);
	return 0;
}

static inline bool ivl_mail_there(const struct ivl_worker *worker)
{
	return __builtin_expect(atomic_load_explicit(&worker->runtime->attention,
						     memory_order_relaxed) >= IVL_MAIL, 0);
}
/* Has work been in a mailbox of the worker's for as long as it may wait? */
bool ivl_mail_waited(struct ivl_worker *worker);
static inline bool ivl_mail_due(struct ivl_worker *worker)
{
	return ivl_mail_there(worker) && ivl_mail_waited(worker);
}
/* The running fiber into the queue, as if it had spawned; mail comes first. */
void ivl_give_way(struct ivl_worker *worker);

/* Put work into the worker's own queue, and wake somebody for it; 0 or ENOMEM. */
static inline int ivl_put(struct ivl_worker *worker, struct ivl_work *work)
{
	return ivl_try_put(worker, work) ? ivl_after_put(worker, ivl_idle_wake_near) :
					   ivl_put_slowly(worker, work);
}

/* What was put last and not taken by others, or whatever the queue gives; NULL: none. */
static inline struct ivl_work *ivl_take(struct ivl_worker *worker)
{
	if (__builtin_expect(!worker->deque, 0))
		return ivl_take_slowly(worker);
	return (struct ivl_work *)ivl_chase_lev_take(worker->deque);
}

/* What ivl_submit_next() was told, or else as ivl_take(). */
static inline struct ivl_work *ivl_take_next(struct ivl_worker *worker)
{
	struct ivl_work *next = worker->next;

	if (!next)
		return ivl_take(worker);
	worker->next = NULL;
	return next;
}

#endif
