/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workers on relacy's threads that run the product's own fibers, run_queue.c, switching.c and
 * find.c. The model replaces the queues, the choice of victims and sleeping, which orders nothing.
 * Include it first.
 */
#ifndef IVL_RELACY_WORKER_HPP
#define IVL_RELACY_WORKER_HPP

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <time.h>

#include "model.hpp"
#include "relacy_mortal.hpp"
#include "relacy_queue.hpp"
#include "relacy_words.hpp"

#define _Noreturn __attribute__((noreturn))
#define atomic_signal_fence(...)
/* Nothing takes time. */
#define clock_gettime(clock, now) (*(now) = {})

/* From switch.S, and C's. */
extern "C" {
long ivl_switch(void **save, void *sp, long result);
#include "exception.h"
}

/* worker.h's is that of the system's thread, of which there is one. */
#define ivl_self ivl_self_of_the_product
#include "worker.h"
#undef ivl_self
struct ivl_worker *ivl_self();
#include "find.h"
#include "idle.h"
#include "run_queue.h"
#include "switching.h"

struct ivl_chooser {
	unsigned int first, asked;
};

struct ivl_stacks {
	unsigned int left;
};

const unsigned int MOST_WORKERS = 4;
const unsigned int MOST_STACKS = 10;
const size_t STACK_BYTES = 64 << 10;

alignas(64) inline char ivl_model_stacks[MOST_STACKS][STACK_BYTES];

/* A member of the model's suite: what ivl_start() makes, for one iteration. */
class ivl_model_machine {
public:
	ivl_model_machine(unsigned int workers)
	{
		current = this;
		std::fill_n(ivl_model_parked, 8, false);
		place.levels = 1;
		topology.leaves = &place;
		topology.leaf_count = 1;
		topology.workers = workers;
		stacks.left = MOST_STACKS;
		for (unsigned int i = 0; i < MOST_STACKS; i++)
			::new (fiber(i)) ivl_fiber();
		runtime.topology = &topology;
		runtime.workers = worker;
		runtime.place_states = &state;
		runtime.stacks = &stacks;
		runtime.fibers_kept = MOST_STACKS;
		state.mailbox.taken.store(false, rl::mo_relaxed, $);
		state.stackless.taken.store(false, rl::mo_relaxed, $);
		runtime.attention.store(0, rl::mo_relaxed, $);
		runtime.high.store(0, rl::mo_relaxed, $);
		state.high.taken.store(false, rl::mo_relaxed, $);
		runtime.turn.store(0, rl::mo_relaxed, $);
		runtime.submitters.store(0, rl::mo_relaxed, $);
		for (unsigned int i = 0; i < workers; i++)
			start(i);
	}

	~ivl_model_machine()
	{
		for (unsigned int i = 0; i < MOST_STACKS; i++)
			fiber(i)->~ivl_fiber();
	}

	/* A worker's thread. */
	void work()
	{
		struct ivl_worker *me = &worker[rl::thread_index()];
		struct ivl_work *work;

		while ((work = ivl_find(me)) || (work = ivl_idle(me)))
			ivl_run_work(me, work);
	}

	void stop()
	{
		stopping = true;
		ivl_model_wake(NULL);
	}

	bool anything()
	{
		bool any = state.mailbox.tail.queue.size();

		for (unsigned int i = 0; i < topology.workers; i++)
			any = any || pool[i].queue.size();
		return any;
	}

	struct ivl_fiber *next_fiber()
	{
		return stacks.left ? fiber(--stacks.left) : NULL;
	}

	static inline ivl_model_machine *current;
	struct ivl_runtime runtime = {};
	struct ivl_worker worker[MOST_WORKERS] = {};
	bool stopping = false;

private:
	static struct ivl_fiber *fiber(unsigned int number)
	{
		return (struct ivl_fiber *)(ivl_model_stacks[number] + STACK_BYTES -
					    (sizeof(struct ivl_fiber) + 63) / 64 * 64);
	}

	void start(unsigned int number)
	{
		struct ivl_worker *it = &worker[number];

		it->deque = &pool[number].queue;
		it->pool = &pool[number];
		it->fiber = &it->base;
		it->runtime = &runtime;
		it->chooser = &chooser[number];
		it->place = &place;
		it->number = number;
		it->lost.store(0, rl::mo_relaxed, $);
	}

	struct ivl_place place = {};
	struct ivl_topology topology = {};
	struct ivl_place_state state = {};
	struct ivl_stacks stacks;
	struct ivl_pool pool[MOST_WORKERS];
	struct ivl_chooser chooser[MOST_WORKERS] = {};
};

/* The other threads are foreign ones. */
struct ivl_worker *ivl_self()
{
	ivl_model_machine *machine = ivl_model_machine::current;
	unsigned int number = rl::thread_index();

	return number < machine->runtime.topology->workers ? &machine->worker[number] : NULL;
}

inline struct ivl_fiber *ivl_stacks_get(struct ivl_stacks *, unsigned int)
{
	struct ivl_fiber *fiber = ivl_model_machine::current->next_fiber();

	if (fiber) {
		fiber->next = NULL;
		fiber->ends.store(0, rl::mo_relaxed, $);
	}
	return fiber;
}

inline void ivl_chooser_begin(struct ivl_chooser *chooser)
{
	*chooser = { rl::rand(ivl_model_machine::current->runtime.topology->workers), 0 };
}

inline int ivl_chooser_next(struct ivl_chooser *chooser)
{
	const unsigned int workers = ivl_model_machine::current->runtime.topology->workers;
	unsigned int victim;

	do {
		if (chooser->asked == workers)
			return -1;
		victim = (chooser->first + chooser->asked++) % workers;
	} while (victim == rl::thread_index());
	return (int)victim;
}

inline struct ivl_work *ivl_idle(struct ivl_worker *worker)
{
	ivl_model_machine *machine = ivl_model_machine::current;

	while (!machine->stopping) {
		struct ivl_work *work = machine->anything() ? ivl_find(worker) : NULL;

		if (work)
			return work;
		if (!machine->anything() && !machine->stopping)
			ivl_model_park(NULL);
	}
	return NULL;
}

inline void *ivl_block_get(struct ivl_depot *depot, struct ivl_magazines *, int)
{
	return malloc(IVL_ASYNC_BYTES);
}

inline void ivl_block_put(struct ivl_depot *depot, struct ivl_magazines *, void *block)
{
	memset(block, 0xdd, IVL_ASYNC_BYTES);
	free(block);
}

inline bool ivl_eventcount_notify(struct ivl_eventcount *, unsigned int)
{
	ivl_model_wake(NULL);
	return true;
}

/* One waits until another has come. */
class ivl_model_meeting {
public:
	ivl_model_meeting() : who(NULL) {}

	void wait()
	{
		ivl_wait(publish, this);
	}

	void come()
	{
		struct ivl_waiter *waiter = who.exchange(CAME, rl::mo_acq_rel, $);

		if (waiter)
			ivl_wake_next(waiter);
	}

private:
	static inline struct ivl_waiter *const CAME = (struct ivl_waiter *)1;

	static bool publish(void *arg, struct ivl_waiter *waiter)
	{
		return ((ivl_model_meeting *)arg)->who.exchange(waiter, rl::mo_acq_rel, $) != CAME;
	}

	rl::atomic<struct ivl_waiter *> who;
};

/*
 * Defects of what src/deferred.h says must not be kept back. switching.c and find.c come
 * after this.
 */
inline bool ivl_model_flush_deferred(struct ivl_deferred *list, struct ivl_worker *worker,
				     const struct ivl_work *work, bool leaves)
{
	if (ivl_has_defect(work ? "counts kept while other work runs" :
				  "counts kept while there is no work"))
		return false;
	return ivl_flush_deferred(list, worker, work, leaves);
}
#define ivl_flush_deferred ivl_model_flush_deferred

/* Not used here. */
uint64_t ivl_watched;
void ivl_end_cells(struct ivl_local *) {}
inline void ivl_idle_wake(ivl_runtime *, const struct ivl_place *) {}
inline void ivl_idle_wake_for_all(struct ivl_worker *) {}
inline int ivl_idle_wake_near(struct ivl_worker *) { return 0; }
inline void ivl_stacks_put(struct ivl_stacks *, struct ivl_fiber *) {}
inline bool ivl_stacks_exceed(struct ivl_stacks *) { return false; }
inline void ivl_chooser_succeeded(struct ivl_chooser *) {}
inline void ivl_stealability_update(struct ivl_stealability *, unsigned int, unsigned int) {}
inline const ivl_place *ivl_place_at(const ivl_runtime *runtime, unsigned int)
{
	return &runtime->topology->leaves[0];
}

inline int ivl_error(int error, const char *, ...)
{
	return error;
}

/* No thread of a model is outside of a runtime. */
ivl_runtime *ivl_default(void)
{
	return NULL;
}

#endif
