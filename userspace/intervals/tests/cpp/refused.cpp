// SPDX-License-Identifier: LGPL-2.1-or-later
/* Silent errors that the compiler must refuse, one for each value of REFUSED; 0 must compile. */
#include <vector>

#include <intervals.hpp>

int main()
{
#if REFUSED == 1
	using total = long &;		/* the identity, which all parts begin with */
#else
	using total = long;
#endif
#if REFUSED == 2
	std::vector<bool> out(10);	/* two tasks write elements of the same word */
#else
	std::vector<char> out(10);
#endif
#if REFUSED == 3
	std::vector<bool> sorted(10);
#else
	std::vector<char> sorted(10);
#endif
#if REFUSED == 4
	const bool identity = false;	/* a std::vector of sums */
#else
	const char identity = 0;
#endif
#if REFUSED == 5
	bool stable[10] = {};		/* a std::vector holds them meanwhile */
#else
	char stable[10] = {};
#endif
	const std::vector<char> in(10);

	ivl::parallel_reduce(0, 10, 0L, [](int, int, total sum) { return sum; }, std::plus<>());
	ivl::parallel_scan(in.begin(), in.end(), out.begin(), identity, std::bit_xor<>());
	ivl::parallel_sort(sorted.begin(), sorted.end());
	ivl::parallel_stable_sort(stable, stable + 10);
}
