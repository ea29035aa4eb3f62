// SPDX-License-Identifier: GPL-2.0
/*
 * C++: a parallel loop over a lambda. The C interface takes a function and a pointer;
 * ten lines make a lambda of them, which the compiler inlines. No exception may leave
 * the lambda: the runtime is C and would not pass it on.
 */
#include <atomic>
#include <cstdio>
#include <numeric>
#include <vector>

#include <intervals.h>

namespace {

/* Calls body(begin, end) for parts of the range; returns when all are done. */
template <typename Body>
void parallel_for(std::size_t begin, std::size_t end, const Body &body)
{
	auto call = [](std::size_t from, std::size_t to, void *arg) {
		(*static_cast<const Body *>(arg))(from, to);
	};

	ivl_parallel_for(begin, end, 0, call, const_cast<Body *>(&body));
}

/* Runs body() in the runtime; returns its error. */
template <typename Body>
int run(ivl_runtime *runtime, const Body &body)
{
	auto call = [](ivl_interval *, void *arg) -> int {
		return (*static_cast<const Body *>(arg))();
	};

	return ivl_run(runtime, call, const_cast<Body *>(&body));
}

} // namespace

int main()
{
	std::vector<unsigned long> squares(100000);
	std::atomic<unsigned long> sum{0};
	ivl_runtime *runtime;

	if (ivl_start(nullptr, &runtime)) {
		std::fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	int error = run(runtime, [&] {
		parallel_for(0, squares.size(), [&](std::size_t begin, std::size_t end) {
			for (std::size_t i = begin; i < end; i++)
				squares[i] = i * i;
		});
		parallel_for(0, squares.size(), [&](std::size_t begin, std::size_t end) {
			/* One addition to the shared sum for each part. */
			sum += std::accumulate(squares.begin() + begin, squares.begin() + end,
					       0ul);
		});
		return 0;
	});
	ivl_stop(runtime);

	const unsigned long n = squares.size() - 1;

	std::printf("sum of the squares up to %lu: %lu\n", n, sum.load());
	return error || sum != n * (n + 1) * (2 * n + 1) / 6;
}
