// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cohort lock: one owner at a time, which sees its predecessor's writes. The last owner may
 * destroy it, as ivl_numa_mutex_destroy() does.
 */
#include "model.hpp"
#include "scheduler.h"
#include "sync/cohort.h"

static const int TURNS = 2;

/* Thread t is on node t % nodes; the first tries before it waits. */
template <int threads, int nodes, int passes>
struct cohort : rl::test_suite<cohort<threads, nodes, passes>, threads> {
	ivl_model_scheduler scheduler;
	struct ivl_cohort_lock lock;
	ivl_cohort cohorts[nodes];
	IVL_SHARED(int) guarded;

	void before()
	{
		ivl_cohort_lock_init(&lock, nodes == 1, passes);
		for (auto &c : cohorts)
			ivl_cohort_init(&c, nodes == 1);
		guarded = 0;
	}

	void thread(unsigned int index)
	{
		ivl_cohort *mine = &cohorts[index % nodes];

		for (int turn = 0; turn < TURNS; turn++) {
			if (index || !ivl_cohort_trylock(&lock, mine))
				ivl_cohort_lock(&lock, mine);
			guarded = guarded + 1;
			const bool last = guarded == threads * TURNS;
			ivl_cohort_unlock(&lock);
			if (last)
				destroy();
		}
	}

	/* The previous owner may have released the lock, but not yet its node's queue. */
	void destroy()
	{
		for (auto &c : cohorts) {
			while (!ivl_guard_queue_free(&c.queue))
				rl::yield(1, $);
			c.queue.oldest = nullptr;
			c.has_global = false;
		}
	}

	void after()
	{
		RL_ASSERT(guarded == threads * TURNS);
		RL_ASSERT(nodes == 1 || ivl_guard_queue_free(&lock.global));
	}
};

int main(int argc, char **argv)
{
	return ivl_model<cohort<3, 1, 1>, cohort<3, 2, 1>, cohort<4, 2, 0>, cohort<4, 2, 2>>::main(
		argc, argv, {});
}
