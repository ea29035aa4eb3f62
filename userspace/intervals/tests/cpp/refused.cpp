// SPDX-License-Identifier: LGPL-2.1-or-later
/* What would be wrong in silence is refused by the compiler: a REFUSED each, and 0 is right. */
#include <intervals.hpp>

int main()
{
#if REFUSED == 1
	using total = long &;		/* the identity, which all parts begin with */
#else
	using total = long;
#endif

	ivl::parallel_reduce(0, 10, 0L, [](int, int, total sum) { return sum; }, std::plus<>());
}
