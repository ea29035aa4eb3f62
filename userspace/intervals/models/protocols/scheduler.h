/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of src/scheduler.h what synchronisation needs: contexts that wait and are woken. */
#ifndef IVL_SCHEDULER_H
#define IVL_SCHEDULER_H

#include "atomics.h"

struct ivl_waiter {
	IVL_SHARED(int) registers;	/* written by the waiter, read by its waker */
	rl::semaphore<ivl_waiter> woken;
};

/* A member of the model's suite. Each thread waits for one thing at a time. */
class ivl_model_scheduler {
public:
	ivl_model_scheduler()
	{
		current = this;
		for (auto &w : waiter)
			w.woken.init(false, 0, 1, $);
	}

	~ivl_model_scheduler()
	{
		for (auto &w : waiter)
			w.woken.deinit($);
	}

	static inline ivl_model_scheduler *current;
	ivl_waiter waiter[8];
};

inline void ivl_wait(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	ivl_waiter *me = &ivl_model_scheduler::current->waiter[rl::thread_index()];

	me->registers = 1;
	if (publish(arg, me))
		me->woken.wait(false, false, $);
}

inline void ivl_wake(struct ivl_waiter *waiter)
{
	unsigned int before;

	(void)(int)waiter->registers;
	waiter->woken.post(1, before, $);
}

#endif
