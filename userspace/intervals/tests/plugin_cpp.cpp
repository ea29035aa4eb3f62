// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loaded by host.c: tasks that wait inside a handler, then rethrow. */
#include <atomic>
#include <cerrno>
#include <stdexcept>

#include <intervals.h>
#include <intervals_sync.h>

namespace {

const int TASKS = 8, TIMES = 20;

struct crowd {
	ivl_numa_barrier *barrier;
	std::atomic<int> next{0}, own{0};
};

void wait_in_handler(void *arg)
{
	crowd *all = *static_cast<crowd **>(arg);
	const int me = all->next++;

	for (int i = 0; i < TIMES; i++) {
		try {
			try {
				throw me;
			} catch (int) {
				ivl_numa_barrier_wait(all->barrier);
				throw;
			}
		} catch (int caught) {
			all->own += caught == me;
			ivl_numa_barrier_wait(all->barrier);
		}
	}
}

void start_all(void *arg)
{
	for (int i = 0; i < TASKS; i++)
		ivl_async(wait_in_handler, &arg, sizeof(arg), nullptr);
}

int body(ivl_interval *, void *arg)
{
	return ivl_finish(start_all, arg);
}

int throws(ivl_interval *, void *)
{
	throw std::runtime_error("lost");
}

} // namespace

extern "C" int use_intervals()
{
	ivl_config config;
	ivl_runtime *runtime;
	crowd all;
	int error;

	if (ivl_config_init(&config))
		return 2;
	config.workers = 2;
	if (ivl_numa_barrier_init(&all.barrier, TASKS) || ivl_start(&config, &runtime))
		return 3;
	error = ivl_run(runtime, body, &all);
	if (!error && ivl_run(runtime, throws, nullptr) != ENOTRECOVERABLE)
		error = 4;
	ivl_stop(runtime);
	ivl_numa_barrier_destroy(all.barrier);
	return error ? error : all.own == TASKS * TIMES ? 0 : 5;
}
