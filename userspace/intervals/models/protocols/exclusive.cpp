// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exclusive waits (src/attach.h), and the thread that continues other work when all wait:
 * ivl_externals_lift_exclusion() and ivl_externals_wake_one() in src/external.c, and their
 * callers in src/idle.c and src/waking.c, step by step. All wait for locks that are released only
 * when all work is done: a deadlock means that work is left which no thread may do.
 */
#include "model.hpp"
#include "eventcount.c"

/*
 * One piece of work is for thread 0 alone; any thread can do the rest. It exists from the start,
 * or a thread makes it that then waits exclusively, or one that never sleeps.
 */
enum maker { BEFORE_ALL, ONE_OF_THEM, GUEST };

template <int threads, int pieces, maker made_by>
struct exclusive
	: rl::test_suite<exclusive<threads, pieces, made_by>, threads + (made_by == GUEST)> {
	ivl_model_futex futex;
	ivl_eventcount ec[threads];
	rl::atomic<int> work, returned, done;
	rl::atomic<unsigned int> called[threads], asleep;

	void before()
	{
		for (auto &e : ec)
			ivl_eventcount_init(&e);
		for (auto &c : called)
			c.store(0, rl::mo_relaxed, $);
		work.store(made_by == BEFORE_ALL ? pieces : 0, rl::mo_relaxed, $);
		returned.store(made_by == BEFORE_ALL, rl::mo_relaxed, $);
		done.store(0, rl::mo_relaxed, $);
		asleep.store(0, rl::mo_relaxed, $);
	}

	bool wake(int thread)
	{
		return ivl_eventcount_notify(&ec[thread], 1);
	}

	void wake_one()
	{
		ivl_model_fence(rl::mo_seq_cst, $);
		if (asleep.load(rl::mo_relaxed, $) != threads ||
		    ivl_has_defect("new work wakes no thread"))
			return;
		for (int i = 0; i < threads; i++)
			if (wake(i))
				return;
	}

	void make()
	{
		returned.store(1, rl::mo_release, $);
		wake(0);
		for (int i = 0; i < pieces; i++) {
			work.fetch_add(1, rl::mo_acq_rel, $);
			wake_one();
		}
	}

	static bool take(rl::atomic<int> &count)
	{
		int there = count.load(rl::mo_relaxed, $);

		while (there > 0)
			if (count.compare_exchange_strong(there, there - 1, rl::mo_acq_rel, $))
				return true;
		return false;
	}

	bool find(int me)
	{
		if (!(me == 0 && take(returned)) && !take(work))
			return false;
		if (done.fetch_add(1, rl::mo_acq_rel, $) == pieces)
			for (int i = 0; i < threads; i++) {
				called[i].store(1, rl::mo_release, $);
				wake(i);
			}
		return true;
	}

	/* By the last that is awake. */
	bool exclusion_lifted(int me)
	{
		if (work.load(rl::mo_relaxed, $) || (me == 0 && returned.load(rl::mo_relaxed, $)))
			return !ivl_has_defect("the last awake goes on with nothing");
		if (me && returned.load(rl::mo_relaxed, $) &&
		    !ivl_has_defect("the last awake wakes no thread"))
			wake(0);
		return false;
	}

	bool go_to_sleep(int me)
	{
		const unsigned int before = asleep.fetch_add(1, rl::mo_seq_cst, $) + 1;
		const uint64_t key = ivl_eventcount_prepare(&ec[me]);
		bool is_lifted = false;
		unsigned int now;

		now = asleep.load(rl::mo_relaxed, $);
		if (ivl_has_defect("no look after counting itself asleep"))
			now = before;
		if (!called[me].load(rl::mo_acquire, $) && now == threads)
			is_lifted = exclusion_lifted(me);
		if (is_lifted || (called[me].load(rl::mo_acquire, $) &&
				   !ivl_has_defect("no look after prepare")))
			ivl_eventcount_cancel(&ec[me]);
		else
			ivl_eventcount_sleep(&ec[me], key);
		asleep.fetch_sub(1, rl::mo_relaxed, $);
		return is_lifted;
	}

	void thread(unsigned int index)
	{
		if (index == threads) {
			make();
			return;
		}
		if (made_by == ONE_OF_THEM && index == threads - 1)
			make();
		while (!called[index].load(rl::mo_acquire, $))
			if (go_to_sleep(index))
				find(index);
	}

	void after()
	{
		RL_ASSERT(done.load(rl::mo_relaxed, $) == pieces + 1);
	}
};

int main(int argc, char **argv)
{
	return ivl_model<exclusive<2, 0, BEFORE_ALL>, exclusive<2, 1, BEFORE_ALL>,
			 exclusive<2, 1, ONE_OF_THEM>, exclusive<3, 1, ONE_OF_THEM>,
			 exclusive<1, 1, GUEST>, exclusive<2, 1, GUEST>>::main(
		argc, argv,
		{ "new work wakes no thread", "the last awake goes on with nothing",
		  "the last awake wakes no thread", "no look after prepare",
		  "no look after counting itself asleep" });
}
