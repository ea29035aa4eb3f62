// SPDX-License-Identifier: GPL-2.0
/*
 * "Single Counter (single_ctr) consists of a counter (fits in a cache line)
 * protected by a single lock and all threads increment a single counter in a
 * loop." (section 3.2.1). The counter is --cs-lines lines wide.
 */
#include <inttypes.h>
#include <pthread.h>

#include "common/bench.h"
#include "common/layout.h"
#include "common/think.h"

static struct padded lock;
static struct padded counter;

static void setup(const struct options *opt)
{
	lock = padded_mutexes(1, opt->line);
	counter = padded_alloc(1, (size_t)opt->cs_lines * opt->line, opt->line);
}

static void iterate(struct worker *w)
{
	pthread_mutex_lock(padded_at(&lock, 0));
	counter_increment(padded_at(&counter, 0), w->opt->cs_lines, w->opt->line);
	pthread_mutex_unlock(padded_at(&lock, 0));
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
	.name = "single_ctr",
	.fixed_locks = 1,
	.setup = setup,
	.iterate = iterate,
	.check = check,
};
