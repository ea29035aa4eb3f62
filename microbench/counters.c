// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <pthread.h>

#include "common/layout.h"
#include "common/think.h"
#include "counters.h"

static struct padded locks;
static struct padded counters;

void counters_setup(const struct options *opt)
{
	locks = padded_mutexes(opt->locks, opt->line);
	counters = padded_alloc(opt->threads, (size_t)opt->cs_lines * opt->line, opt->line);
}

void counters_iterate(struct worker *w)
{
	pthread_mutex_t *lock = padded_at(&locks, w->id % w->opt->locks);

	pthread_mutex_lock(lock);
	counter_increment(padded_at(&counters, w->id), w->opt->cs_lines, w->opt->line);
	pthread_mutex_unlock(lock);
	think(w);
}

void counters_check(const struct options *opt, struct verdict *verdict)
{
	for (unsigned int i = 0; i < opt->threads; i++) {
		const void *counter = padded_at(&counters, i);
		uint64_t expected = thread_iterations(opt, i);
		unsigned int bad = counter_mismatch(counter, opt->cs_lines, opt->line, expected);

		if (bad < opt->cs_lines)
			verdict_fail(verdict, "line %u of counter %u is %" PRIu64 ", not %" PRIu64,
				     bad, i, counter_value(counter, bad, opt->line), expected);
	}
}
