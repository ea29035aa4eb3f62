// SPDX-License-Identifier: GPL-2.0
/*
 * How workers fall asleep and are woken: src/idle.c, and ivl_put() in src/worker.h, step
 * by step, on the eventcount's own source. Each piece of work goes on only when all of
 * it has been taken up, so that a deadlock means: there is work, and no worker awake
 * that will find it.
 */
#include "model.hpp"
#include "eventcount.c"

/*
 * Without membarrier() `asleep` is never 0, and the fences do what it does. A visitor
 * is a worker that searches while it waits for something, and stops when that is there.
 */
template <int workers, int visitors, bool membarrier>
struct idle : rl::test_suite<idle<workers, visitors, membarrier>, workers + visitors + 1> {
	ivl_model_futex futex;
	ivl_eventcount ec;
	rl::atomic<int> work[workers];
	rl::atomic<unsigned int> searching, asleep, stopping;
	rl::semaphore<idle> all_taken;
	int taken;

	void before()
	{
		ivl_eventcount_init(&ec);
		for (auto &w : work)
			w.store(0, rl::mo_relaxed, $);
		searching.store(0, rl::mo_relaxed, $);
		asleep.store(!membarrier, rl::mo_relaxed, $);
		stopping.store(0, rl::mo_relaxed, $);
		all_taken.init(false, 0, workers + 1, $);
		taken = 0;
	}

	void after()
	{
		all_taken.deinit($);
	}

	void wake()
	{
		if (!ivl_has_defect("no fence before the look at searching"))
			ivl_model_fence(rl::mo_seq_cst, $);
		if (searching.load(rl::mo_relaxed, $) == 0 && asleep.load(rl::mo_relaxed, $) != 0)
			ivl_eventcount_notify(&ec, 1);
	}

	/* A worker that spawns: its queue, then one relaxed load. */
	void put(int number)
	{
		work[number].store(1, rl::mo_relaxed, $);
		if (asleep.load(rl::mo_relaxed, $) != 0)
			wake();
	}

	bool find()
	{
		for (auto &w : work) {
			int there = 1;

			if (w.load(rl::mo_relaxed, $) == 1 &&
			    w.compare_exchange_strong(there, 0, rl::mo_relaxed, $))
				return true;
		}
		return false;
	}

	bool anything()
	{
		for (auto &w : work)
			if (w.load(rl::mo_relaxed, $) == 1)
				return true;
		return false;
	}

	/* `leaves`: whatever it finds, it will not go to sleep. */
	bool search(bool leaves)
	{
		bool found, duty;

		searching.fetch_add(1, rl::mo_seq_cst, $);
		found = find();
		duty = (found && !ivl_has_defect("who finds work wakes nobody")) ||
		       (leaves && !ivl_has_defect("who stops searching wakes nobody"));
		if (searching.fetch_sub(1, rl::mo_seq_cst, $) == 1 && duty)
			wake();
		return found;
	}

	void go_to_sleep()
	{
		uint64_t key;

		asleep.fetch_add(1, rl::mo_seq_cst, $);
		key = ivl_eventcount_prepare(&ec);
		if (membarrier && !ivl_has_defect("no membarrier"))
			rl::systemwide_fence($);
		if (!ivl_has_defect("no look after prepare") &&
		    (anything() || stopping.load(rl::mo_relaxed, $)))
			ivl_eventcount_cancel(&ec);
		else
			ivl_eventcount_sleep(&ec, key);
		asleep.fetch_sub(1, rl::mo_relaxed, $);
	}

	void execute()
	{
		unsigned int before;

		if (++taken == workers)
			all_taken.post(workers, before, $);
		all_taken.wait(false, false, $);
		stopping.store(1, rl::mo_relaxed, $);
		ivl_eventcount_notify(&ec, ~0u);
	}

	void thread(unsigned int index)
	{
		if (index == workers) {
			for (int i = 0; i < workers; i++)
				put(i);
			return;
		}
		if (index > workers) {
			if (search(true))
				execute();
			return;
		}
		while (!stopping.load(rl::mo_relaxed, $)) {
			if (search(false))
				execute();
			else
				go_to_sleep();
		}
	}
};

int main(int argc, char **argv)
{
	/* The fence in notify comes after the one before the look at searching. */
	return ivl_model<idle<1, 0, true>, idle<2, 0, true>, idle<3, 0, true>, idle<2, 1, true>,
			 idle<1, 0, false>, idle<2, 0, false>>::main(
		argc, argv,
		{ "no look after prepare", "no membarrier", "who finds work wakes nobody",
		  "who stops searching wakes nobody", "no fence before the look at searching" },
		{ "ivl_eventcount_notify seq_cst acq_rel" });
}
