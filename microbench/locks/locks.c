// SPDX-License-Identifier: GPL-2.0
/*
 * One critical section and thinking time, and a lock of the form that LOCK names:
 * what single_ctr does with glibc's mutex.
 */
#include <inttypes.h>

#include "../common/layout.h"
#include "../common/think.h"
#include "locks.h"

static struct padded lock;
static struct padded counter;

static void setup(const struct options *opt)
{
	lock = padded_alloc(1, lock_size, opt->line);
	lock_init(padded_at(&lock, 0), opt);
	counter = padded_alloc(1, (size_t)opt->cs_lines * opt->line, opt->line);
}

static void iterate(struct worker *w)
{
	lock_take(padded_at(&lock, 0), w);
	counter_increment(padded_at(&counter, 0), w->opt->cs_lines, w->opt->line);
	lock_release(padded_at(&lock, 0), w);
	think(w);
}

static void check(const struct options *opt, struct verdict *verdict)
{
	uint64_t expected = opt->warmup + opt->iterations;
	unsigned int bad = counter_mismatch(padded_at(&counter, 0), opt->cs_lines, opt->line,
					    expected);

	if (bad < opt->cs_lines)
		verdict_fail(verdict, "line %u of the counter is %" PRIu64 ", not %" PRIu64, bad,
			     counter_value(padded_at(&counter, 0), bad, opt->line), expected);
}

const struct bench benchmark = {
	.name = "lock_" LOCK,
	.description = "one lock of the form " LOCK ", one counter that all threads increment",
	.fixed_locks = 1,
	.setup = setup,
	.iterate = iterate,
	.check = check,
};
