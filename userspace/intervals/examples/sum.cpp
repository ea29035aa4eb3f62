// SPDX-License-Identifier: LGPL-2.1-or-later
/* C++: parallel loops over lambdas, a sum of their results, and an exception. */
#include <cstdio>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <intervals.hpp>

namespace {

const std::size_t COUNT = 100000;

unsigned long sum_of_squares()
{
	std::vector<unsigned long> squares(COUNT);

	ivl::parallel_for(std::size_t{0}, COUNT, [&](std::size_t i) { squares[i] = i * i; });
	return ivl::parallel_reduce(std::size_t{0}, COUNT, 0ul,
		[&](std::size_t begin, std::size_t end, unsigned long sum) {
			return std::accumulate(&squares[begin], &squares[0] + end, sum);
		}, std::plus<>());
}

} // namespace

int main()
{
	const unsigned long n = COUNT - 1;

	try {
		ivl::runtime runtime;
		const unsigned long sum = runtime.run(sum_of_squares);

		std::printf("sum of the squares up to %lu: %lu\n", n, sum);
		if (sum != n * (n + 1) * (2 * n + 1) / 6)
			return 1;
		runtime.run([] {
			ivl::parallel_for(0, 1000, [](int i) {
				if (i == 500)
					throw std::runtime_error("500 is not allowed");
			});
		});
	} catch (const ivl::error &error) {
		std::fprintf(stderr, "%s\n", error.what());
		return 1;
	} catch (const std::runtime_error &error) {
		std::printf("%s\n", error.what());
	}
	return 0;
}
