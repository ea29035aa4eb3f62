// SPDX-License-Identifier: GPL-2.0
/* As single_ctr, with the runtime's mutex, taken by threads that are not its workers. */
#include <error.h>
#include <inttypes.h>

#include "common/bench.h"
#include "common/layout.h"
#include "common/think.h"
#include "intervals_sync.h"

static ivl_numa_mutex *mutex;
static struct padded counter;

static void setup(const struct options *opt)
{
	int failure = ivl_numa_mutex_init(&mutex);

	if (failure)
		error(1, failure, "the mutex");
	counter = padded_alloc(1, (size_t)opt->cs_lines * opt->line, opt->line);
}

static void iterate(struct worker *w)
{
	ivl_numa_mutex_lock(mutex);
	counter_increment(padded_at(&counter, 0), w->opt->cs_lines, w->opt->line);
	ivl_numa_mutex_unlock(mutex);
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
	.name = "intervals_mutex",
	.fixed_locks = 1,
	.setup = setup,
	.iterate = iterate,
	.check = check,
};
