// SPDX-License-Identifier: GPL-2.0
// How many threads oneTBB has, and on which CPUs they are.
#include <atomic>
#include <cstdio>
#include <sched.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

int main()
{
	std::atomic<unsigned long long> ran{0};

	tbb::parallel_for(0, 4000, [&](int) {
		for (int i = 0; i < 200; i++)
			ran |= 1ULL << sched_getcpu();
	});
	std::printf("{\"threads\":%d,\"told\":%d,\"ran\":%llu}\n",
		    tbb::this_task_arena::max_concurrency(), tbb::info::default_concurrency(),
		    ran.load());
}
