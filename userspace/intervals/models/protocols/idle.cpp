// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How workers fall asleep, are woken, and are throttled: src/idle.c, src/waking.c, src/feedback.c,
 * and ivl_put() in src/run_queue.h, step by step, on the source of the eventcount and of the timed
 * sleep. Work continues only when all of it has been taken, so a deadlock means: work is left, and
 * no awake worker will find it.
 */
#include "model.hpp"
#include "eventcount.c"
#include "timed_sleep.c"

enum naps {
	NEVER,
	AT_TIMES,	/* a worker is throttled by chance, and a timed sleep ends by chance */
	TILL_CALLED,	/* one stays awake, and only a call ends a timed sleep */
};

/* Without membarrier() `asleep` is never 0, and fences replace it. */
template <int workers, bool membarrier, naps napping = NEVER>
struct idle : rl::test_suite<idle<workers, membarrier, napping>, workers + 1> {
	ivl_model_futex futex;
	ivl_eventcount ec;
	ivl_timed_sleep timed_sleep;
	rl::atomic<int> work[workers];
	rl::atomic<unsigned int> searching, asleep, stopping;
	rl::semaphore<idle> all_taken;
	int taken;

	void before()
	{
		ivl_eventcount_init(&ec);
		ivl_timed_sleep_end(&timed_sleep);
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

	void pass_on()
	{
		if (!ivl_has_defect("no fence before the look for more work"))
			ivl_model_fence(rl::mo_seq_cst, $);
		if (anything())
			wake();
	}

	bool search()
	{
		bool found;

		searching.fetch_add(1, rl::mo_seq_cst, $);
		found = find();
		if (searching.fetch_sub(1, rl::mo_seq_cst, $) == 1 && found &&
		    !ivl_has_defect("a worker that finds work wakes none"))
			pass_on();
		return found;
	}

	/* Neither asleep nor napping. */
	int awake()
	{
		return workers - (int)asleep.load(rl::mo_relaxed, $) + !membarrier -
		       ivl_timed_sleep_active(&timed_sleep);
	}

	bool too_many(bool itself)
	{
		return napping == AT_TIMES ? rl::rand(2) : awake() + itself > 1;
	}

	/* True: it was throttled to the end. */
	bool take_nap()
	{
		bool nothing = false;

		searching.fetch_add(1, rl::mo_seq_cst, $);
		while (!stopping.load(rl::mo_relaxed, $) && too_many(true)) {
			nothing = !anything();
			if (nothing || !ivl_timed_sleep_until(&timed_sleep, napping == AT_TIMES))
				break;
		}
		ivl_timed_sleep_end(&timed_sleep);
		searching.fetch_sub(1, rl::mo_seq_cst, $);
		return nothing;
	}

	bool throttles()
	{
		if (napping == NEVER || !too_many(false))
			return false;
		return !ivl_timed_sleep_begin(&timed_sleep) || take_nap();
	}

	/* For a throttled worker, which may sleep although there is work. */
	bool napped()
	{
		return ivl_has_defect("throttled without a timed sleep") ||
		       ivl_timed_sleep_active(&timed_sleep);
	}

	void go_to_sleep(bool throttled)
	{
		const bool relies = throttled &&
				    ivl_has_defect("timed sleep looked at before prepare") &&
				    napped();
		uint64_t key;

		asleep.fetch_add(1, rl::mo_seq_cst, $);
		key = ivl_eventcount_prepare(&ec);
		if (membarrier && !ivl_has_defect("no membarrier"))
			rl::systemwide_fence($);
		if (napping != NEVER && awake() < 1 && !ivl_has_defect("the last awake calls none"))
			ivl_timed_sleep_wake(&timed_sleep);
		if (!ivl_has_defect("no look after prepare") &&
		    ((!(relies || (throttled && napped())) && anything()) ||
		     stopping.load(rl::mo_relaxed, $)))
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
		/* A single piece continues at once. */
		if (napping != TILL_CALLED)
			all_taken.wait(false, false, $);
		else if (taken < workers)
			return;
		stopping.store(1, rl::mo_relaxed, $);
		ivl_eventcount_notify(&ec, ~0u);
		if (napping != NEVER && !ivl_has_defect("no call at the end"))
			ivl_timed_sleep_wake(&timed_sleep);
	}

	void thread(unsigned int index)
	{
		if (index == workers) {
			for (int i = 0; i < workers; i++)
				put(i);
			return;
		}
		while (!stopping.load(rl::mo_relaxed, $)) {
			const bool throttled = throttles();

			if (!throttled && search())
				execute();
			else
				go_to_sleep(throttled);
		}
	}
};

/*
 * Work that waits for other work, without free stacks: begin_stackless() and ivl_serve_stackless()
 * in src/find.c. Each piece keeps its stack until all have begun, and the first has one. A deadlock
 * means: a task that waits for a stack gets none. Guests are external workers, which look once and
 * leave: count_out() in src/external.c.
 */
template <int workers, int guests, int pieces, bool membarrier>
struct stackless
	: rl::test_suite<stackless<workers, guests, pieces, membarrier>, workers + guests> {
	ivl_model_futex futex;
	ivl_eventcount ec;
	rl::atomic<int> work, kept, stacks;
	rl::atomic<unsigned int> asleep, all, stopping;
	bool own[workers + guests];	/* a stack, and no work for it */
	int begun;

	void before()
	{
		ivl_eventcount_init(&ec);
		work.store(pieces, rl::mo_relaxed, $);
		kept.store(0, rl::mo_relaxed, $);
		stacks.store(1, rl::mo_relaxed, $);
		asleep.store(!membarrier, rl::mo_relaxed, $);
		all.store(workers + guests + !membarrier, rl::mo_relaxed, $);
		stopping.store(0, rl::mo_relaxed, $);
		std::fill(own, own + workers + guests, false);
		begun = 0;
	}

	static bool take(rl::atomic<int> &count)
	{
		int there = count.load(rl::mo_relaxed, $);

		while (there > 0)
			if (count.compare_exchange_strong(there, there - 1, rl::mo_acq_rel, $))
				return true;
		return false;
	}

	bool stack_there()
	{
		bool &mine = own[rl::thread_index()];

		mine = mine || take(stacks);
		return mine;
	}

	void begin()
	{
		own[rl::thread_index()] = false;
		if (++begun == pieces) {
			stopping.store(1, rl::mo_relaxed, $);
			ivl_eventcount_notify(&ec, ~0u);
		}
	}

	bool find()
	{
		if (take(work)) {
			if (stack_there()) {
				begin();
			} else {
				kept.fetch_add(1, rl::mo_acq_rel, $);
				ivl_model_fence(rl::mo_seq_cst, $);
				if (asleep.load(rl::mo_relaxed, $) != 0)
					ivl_eventcount_notify(&ec, 1);
			}
			return true;
		}
		if (kept.load(rl::mo_relaxed, $) && stack_there() && take(kept)) {
			begin();
			return true;
		}
		return false;
	}

	/* By the last that is awake. */
	bool serve()
	{
		if (!kept.load(rl::mo_relaxed, $) || ivl_has_defect("the last awake makes no stack"))
			return false;
		if (!stacks.load(rl::mo_relaxed, $))
			stacks.fetch_add(1, rl::mo_acq_rel, $);
		return true;
	}

	void go_to_sleep()
	{
		const unsigned int now = asleep.fetch_add(1, rl::mo_seq_cst, $) + 1;
		const uint64_t key = ivl_eventcount_prepare(&ec);

		if (membarrier)
			rl::systemwide_fence($);
		if (work.load(rl::mo_relaxed, $) || stopping.load(rl::mo_relaxed, $) ||
		    (now == all.load(rl::mo_seq_cst, $) && serve()))
			ivl_eventcount_cancel(&ec);
		else
			ivl_eventcount_sleep(&ec, key);
		asleep.fetch_sub(1, rl::mo_relaxed, $);
	}

	void leave()
	{
		unsigned int others;

		if (own[rl::thread_index()]) {
			stacks.fetch_add(1, rl::mo_acq_rel, $);
			own[rl::thread_index()] = false;
		}
		others = all.fetch_sub(1, rl::mo_seq_cst, $) - 1;
		if (!ivl_has_defect("no look when leaving") &&
		    asleep.load(rl::mo_seq_cst, $) == others && kept.load(rl::mo_relaxed, $))
			ivl_eventcount_notify(&ec, 1);
	}

	void thread(unsigned int index)
	{
		if (index >= workers) {
			find();
			leave();
			return;
		}
		while (!stopping.load(rl::mo_relaxed, $))
			if (!find())
				go_to_sleep();
	}
};

int main(int argc, char **argv)
{
	return ivl_model<idle<1, true>, idle<2, true>, idle<3, true>, idle<1, false>,
			 idle<2, false>, stackless<2, 0, 3, true>, stackless<3, 0, 4, true>,
			 stackless<2, 0, 3, false>, stackless<1, 1, 3, true>,
			 stackless<2, 1, 3, true>, stackless<2, 1, 3, false>,
			 idle<2, false, TILL_CALLED>, idle<2, true, TILL_CALLED>,
			 idle<3, true, TILL_CALLED>, idle<2, true, AT_TIMES>,
			 idle<3, true, AT_TIMES>, idle<2, false, AT_TIMES>>::main(
		argc, argv,
		{ "no look after prepare", "no membarrier", "a worker that finds work wakes none",
		  "no fence before the look at searching", "the last awake makes no stack",
		  "no look when leaving", "throttled without a timed sleep",
		  "timed sleep looked at before prepare", "the last awake calls none",
		  "no call at the end", "no fence before the look for more work" });
}
