// SPDX-License-Identifier: LGPL-2.1-or-later
/* The barrier: no caller continues before all have arrived; each sees the writes of all. */
#include "model.hpp"
#include "scheduler.h"
#include "eventcount.c"
#include "sync/gathering.h"

static const int TURNS = 2;

/* Thread t is on node t % nodes; the first `tasks` of them are tasks. */
template <int callers, int nodes, int tasks>
struct gathering : rl::test_suite<gathering<callers, nodes, tasks>, callers> {
	ivl_model_scheduler scheduler;
	ivl_model_futex futex;
	ivl_gathering all;
	ivl_gathering_node node[nodes];
	void *parts[nodes];
	IVL_SHARED(int) written[callers];
	unsigned int lasts;

	void before()
	{
		for (int i = 0; i < nodes; i++)
			parts[i] = &node[i];
		ivl_gathering_init(&all, callers, parts, nodes);
		for (auto &w : written)
			w = 0;
		lasts = 0;
	}

	void thread(unsigned int index)
	{
		for (int turn = 1; turn <= TURNS; turn++) {
			written[index] = turn;
			lasts += meet(index);
			for (auto &w : written)
				RL_ASSERT(w == turn);
			lasts += meet(index);
		}
	}

	bool meet(unsigned int index)
	{
		return index < tasks ? ivl_gathering_wait_task(&all, index % nodes) :
				       ivl_gathering_wait_thread(&all, index % nodes);
	}

	void after()
	{
		RL_ASSERT(lasts == 2 * TURNS);
		for (int i = 0; i < nodes; i++)
			RL_ASSERT(ivl_gathering_empty(&all, i));
	}
};

int main(int argc, char **argv)
{
	/*
	 * These orders keep the object's memory from being freed too early. relacy executes a
	 * thread in program order, so it cannot show a late access.
	 */
	return ivl_model<gathering<2, 1, 0>, gathering<3, 2, 3>, gathering<3, 2, 1>>::main(
		argc, argv, {},
		{ "ivl_gathering_go release relaxed", "ivl_gathering_empty acquire relaxed" });
}
