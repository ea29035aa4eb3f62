// SPDX-License-Identifier: LGPL-2.1-or-later
/* The eventcount: a lost wake-up is a deadlock, which relacy finds. */
#include "model.hpp"
#include "eventcount.c"

/*
 * Each of the wakers puts one element and wakes one; each of the sleepers needs one.
 * The accesses of the elements order nothing, so that all depends on the eventcount.
 */
template <int sleepers, int wakers>
struct one_by_one : rl::test_suite<one_by_one<sleepers, wakers>, sleepers + wakers> {
	ivl_model_futex futex;
	ivl_eventcount ec;
	rl::atomic<int> element[wakers];

	void before()
	{
		futex.compares = !ivl_has_defect("epoch not compared");
		ivl_eventcount_init(&ec);
		for (auto &e : element)
			e.store(0, rl::mo_relaxed, $);
	}

	bool take()
	{
		for (auto &e : element) {
			int there = 1;

			if (e.load(rl::mo_relaxed, $) == 1 &&
			    e.compare_exchange_strong(there, 0, rl::mo_relaxed, $))
				return true;
		}
		return false;
	}

	bool is_there()
	{
		for (auto &e : element)
			if (e.load(rl::mo_relaxed, $) == 1)
				return true;
		return false;
	}

	void sleeper()
	{
		while (!take()) {
			uint64_t key = ivl_eventcount_prepare(&ec);

			if (!ivl_has_defect("no look after prepare") && is_there())
				ivl_eventcount_cancel(&ec);
			else
				ivl_eventcount_sleep(&ec, key);
		}
	}

	void waker(int number)
	{
		if (ivl_has_defect("notify before it is true"))
			ivl_eventcount_notify(&ec, 1);
		element[number].store(1, rl::mo_relaxed, $);
		if (!ivl_has_defect("notify before it is true"))
			ivl_eventcount_notify(&ec, 1);
	}

	void thread(unsigned int index)
	{
		if (index < sleepers)
			sleeper();
		else
			waker(index - sleepers);
	}

	void after()
	{
		RL_ASSERT(!(ec.state.load(rl::mo_relaxed, $) & WAITERS));
	}
};

/* Two threads wait for one flag; the thread that sets it wakes all. */
struct all : rl::test_suite<all, 3> {
	ivl_model_futex futex;
	ivl_eventcount ec;
	rl::atomic<int> stop;

	void before()
	{
		ivl_eventcount_init(&ec);
		stop.store(0, rl::mo_relaxed, $);
	}

	void thread(unsigned int index)
	{
		if (index == 2) {
			stop.store(1, rl::mo_relaxed, $);
			ivl_eventcount_notify(&ec, ivl_has_defect("one woken for all") ? 1 : ~0u);
			return;
		}
		while (!stop.load(rl::mo_relaxed, $)) {
			uint64_t key = ivl_eventcount_prepare(&ec);

			if (stop.load(rl::mo_relaxed, $))
				ivl_eventcount_cancel(&ec);
			else
				ivl_eventcount_sleep(&ec, key);
		}
	}
};

int main(int argc, char **argv)
{
	return ivl_model<one_by_one<1, 1>, one_by_one<2, 2>, one_by_one<1, 3>, all>::main(
		argc, argv,
		{ "no look after prepare", "notify before it is true", "epoch not compared",
		  "one woken for all" });
}
