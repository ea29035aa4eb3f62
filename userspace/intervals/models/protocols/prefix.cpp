// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prefix sums as in src/scan.c: parts are taken in order; a part is scanned after the sum of all
 * parts before it is known; when all are taken all are added, whichever workers stopped waiting.
 */
#include "model.hpp"
#include "prefix.h"

static const int PARTS = 4;

template <int threads>
struct prefix : rl::test_suite<prefix<threads>, threads> {
	rl::atomic<int> taken;
	ivl_prefix parts[PARTS];
	/* A part's own sum, then the sum up to its end, which the next part's scan consumes. */
	IVL_SHARED(int) sums[PARTS];
	IVL_SHARED(int) used[PARTS];

	void before()
	{
		taken.store(0, rl::mo_relaxed, $);
		for (int i = 0; i < PARTS; i++) {
			atomic_init(&parts[i].met, IVL_PREFIX_NEITHER);
			sums[i] = 0;
			used[i] = 0;
		}
	}

	void scan(int part)
	{
		RL_ASSERT(!part || sums[part - 1] == (1 << part) - 1);
		if (part)
			sums[part - 1] = -1;
		used[part] = 1;
	}

	/* The sum up to its end is known. */
	void add_up(int part)
	{
		while (++part < PARTS && ivl_prefix_meet(&parts[part])) {
			sums[part] = sums[part - 1] + sums[part];
			ivl_prefix_add(&parts[part]);
		}
	}

	void thread(unsigned int)
	{
		for (;;) {
			int part = taken.fetch_add(1, rl::mo_relaxed, $);

			if (part >= PARTS)
				return;
			if (!part || ivl_prefix_ready(&parts[part])) {
				scan(part);
				sums[part] = (2 << part) - 1;
				add_up(part);
				continue;
			}
			sums[part] = 1 << part;
			if (ivl_prefix_meet(&parts[part])) {
				sums[part] = sums[part - 1] + sums[part];
				ivl_prefix_add(&parts[part]);
				add_up(part);
			}
			/* The last chance: later it is another worker's. */
			if (ivl_prefix_added(&parts[part]))
				scan(part);
		}
	}

	void after()
	{
		for (int i = 0; i < PARTS; i++) {
			if (!used[i])
				scan(i);
		}
		RL_ASSERT(sums[PARTS - 1] == (1 << PARTS) - 1);
	}
};

int main(int argc, char **argv)
{
	return ivl_model<prefix<2>, prefix<3>>::main(argc, argv, {});
}
