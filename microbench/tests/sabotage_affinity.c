// SPDX-License-Identifier: GPL-2.0
#include "../affinity.c"
#include "sabotage.h"

static void lost_update(void)
{
	--*(uint64_t *)((char *)padded_at(&counters, 1) + (opt->cs_lines - 1) * opt->line);
}

/* A phase that took the wrong counter: the sum of both is right. */
static void wrong_counter(void)
{
	for (unsigned int i = 0; i < opt->cs_lines; i++) {
		--*(uint64_t *)((char *)padded_at(&counters, 0) + i * opt->line);
		++*(uint64_t *)((char *)padded_at(&counters, 1) + i * opt->line);
	}
}

const struct sabotage sabotages[] = {
	{ "lost_update", lost_update },
	{ "wrong_counter", wrong_counter },
	{ 0 }
};
