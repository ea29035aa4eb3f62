// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The queue of a guard: one holder at a time, which sees its predecessor's writes; FIFO order; no
 * waiter is lost.
 */
#include "model.hpp"
#include "guard_queue.h"

static const int TURNS = 2;

struct waiter {
	ivl_guard_node node;
	IVL_SHARED(int) payload;	/* written before enter, read by its predecessor */
	rl::semaphore<waiter> granted;
	bool waits;			/* of the model, which sees all at once */
	unsigned int entered;
};

template <int threads>
struct guard : rl::test_suite<guard<threads>, threads> {
	ivl_guard_queue queue;
	IVL_SHARED(int) guarded;
	waiter waiters[threads];
	bool held;
	unsigned int clock;

	void before()
	{
		ivl_guard_queue_init(&queue);
		guarded = 0;
		held = false;
		clock = 0;
		for (auto &w : waiters) {
			w.granted.init(false, 0, 1, $);
			w.waits = false;
		}
	}

	/* No waiter from before `me` still waits. */
	void check_order(waiter *me, unsigned int came)
	{
		for (auto &w : waiters)
			RL_ASSERT(&w == me || !w.waits || w.entered > came);
	}

	void thread(unsigned int index)
	{
		waiter *me = &waiters[index];

		for (int turn = 0; turn < TURNS; turn++) {
			unsigned int came = ++clock;
			waiter *next;

			me->payload = (int)index;
			bool mine = index == 0 && turn == 0 && ivl_guard_queue_try(&queue);

			if (!mine && !ivl_guard_queue_enter(&queue, &me->node)) {
				me->entered = ++clock;
				me->waits = true;
				me->granted.wait(false, false, $);
				me->waits = false;
			}
			RL_ASSERT(!held);
			held = true;
			check_order(me, came);
			guarded = guarded + 1;
			held = false;
			next = (waiter *)ivl_guard_queue_leave(&queue);
			if (next) {
				RL_ASSERT(next->payload == next - waiters);
				unsigned int before;
				next->granted.post(1, before, $);
			}
		}
	}

	void after()
	{
		RL_ASSERT(guarded == threads * TURNS);
		for (auto &w : waiters)
			w.granted.deinit($);
	}
};

int main(int argc, char **argv)
{
	return ivl_model<guard<2>, guard<3>>::main(argc, argv, {});
}
