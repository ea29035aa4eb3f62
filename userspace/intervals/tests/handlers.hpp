/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that wait inside a handler until all are there, then rethrow. */
#include <atomic>
#include <exception>

#include <intervals.h>
#include <intervals_sync.h>

struct handlers {
	static const int TASKS = 8, TIMES = 50;
	ivl_numa_barrier *barrier;
	std::atomic<int> next{0}, own{0};

	static void wait_in_handler(void *arg)
	{
		handlers *all = *static_cast<handlers **>(arg);
		const int me = all->next++;

		for (int i = 0; i < TIMES; i++) {
			int found = -1;

			try {
				try {
					throw me;
				} catch (int) {
					ivl_numa_barrier_wait(all->barrier);
					throw;
				}
			} catch (int caught) {
				found = caught;
				ivl_numa_barrier_wait(all->barrier);
			}
			all->own += found == me && !std::current_exception();
		}
	}

	static void start_all(void *arg)
	{
		for (int i = 0; i < TASKS; i++)
			ivl_async(wait_in_handler, &arg, sizeof(arg), nullptr);
	}

	static int body(ivl_interval *, void *arg)
	{
		return ivl_finish(start_all, arg);
	}

	/* Whether each task has caught its own exceptions. */
	static bool right(ivl_runtime *runtime)
	{
		handlers all;

		if (ivl_numa_barrier_init(&all.barrier, TASKS))
			return false;
		return !ivl_run(runtime, body, &all) && !ivl_numa_barrier_destroy(all.barrier) &&
		       all.own == TASKS * TIMES;
	}
};
