// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The end of a runtime while other threads submit: ivl_submit_begin() and ivl_submit_end() in
 * src/waking.h, put_mail() in src/run_queue.c and ivl_stop(), step by step. A submitter that
 * looks for a worker to wake in a runtime that is gone is a data race.
 */
#include "model.hpp"

template <int posting> struct ending : rl::test_suite<ending<posting>, posting + 1> {
	IVL_SHARED(int) runtime;
	_Atomic(unsigned int) submitters;
	rl::atomic<int> mail;

	void before()
	{
		runtime = 1;
		submitters.store(0, rl::mo_relaxed, $);
		mail.store(0, rl::mo_relaxed, $);
	}

	void begin()
	{
		atomic_fetch_add_explicit(&submitters, 1u, memory_order_relaxed);
	}

	void post()
	{
		if (!ivl_has_defect("registers after the work is there"))
			begin();
		mail.fetch_add(1, rl::mo_release, $);
		if (ivl_has_defect("registers after the work is there"))
			begin();
		RL_ASSERT(runtime == 1);
		atomic_fetch_sub_explicit(&submitters, 1u, memory_order_release);
	}

	/* When all has come. */
	void stop()
	{
		while (mail.load(rl::mo_acquire, $) != posting)
			rl::yield(1, $);
		if (!ivl_has_defect("no wait for submitters"))
			while (atomic_load_explicit(&submitters, memory_order_acquire) != 0)
				rl::yield(1, $);
		runtime = 0;
	}

	void thread(unsigned int index)
	{
		if (index == posting)
			stop();
		else
			post();
	}
};

int main(int argc, char **argv)
{
	return ivl_model<ending<1>, ending<2>>::main(
		argc, argv, { "registers after the work is there", "no wait for submitters" });
}
