// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * C++: spawn and sync, a search that stops when something is found, a future.
 * groups [N]: fib(N), and where in the numbers from 0 on the first multiple of 9999991 is.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <intervals.hpp>

namespace {

long fib(int n)
{
	if (n < 2)
		return n;
	long x, y;
	ivl::scope scope;
	ivl::child left(scope, [&] { x = fib(n - 1); });

	y = fib(n - 2);
	scope.sync();
	return x + y;
}

/* A number from 1 to `end` that 9999991 divides; the first task to find one ends the search. */
long find(long end)
{
	const long PART = 10000;
	std::atomic<long> found{0};

	ivl::finish([&](ivl::task_group &group) {
		for (long begin = 1; begin < end; begin += PART)
			group.run([&, begin] {
				for (long i = begin; i < begin + PART && i < end; i++) {
					if (i % 9999991)
						continue;
					found = i;
					group.cancel();
				}
			});
	});
	return found;
}

} // namespace

int main(int argc, char **argv)
{
	const int n = argc > 1 ? std::atoi(argv[1]) : 20;
	ivl::runtime runtime;

	return runtime.run([&] {
		auto number = ivl::async([n] { return fib(n); });
		const long found = find(10000000);

		std::printf("fib(%d) = %ld\n%ld is a multiple of 9999991\n", n, number.get(), found);
		return found == 9999991 ? 0 : 1;
	});
}
