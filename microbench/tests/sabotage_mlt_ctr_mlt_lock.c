// SPDX-License-Identifier: GPL-2.0
#include "../counters.c"
#include "sabotage.h"

static void lost_update(void)
{
	--*(uint64_t *)((char *)padded_at(&counters, opt->threads - 1) +
			(opt->cs_lines - 1) * opt->line);
}

/* An increment that hit a neighbour's counter: the sum of all is right. */
static void wrong_counter(void)
{
	--*(uint64_t *)padded_at(&counters, 0);
	++*(uint64_t *)padded_at(&counters, 1);
}

const struct sabotage sabotages[] = {
	{ "lost_update", lost_update },
	{ "wrong_counter", wrong_counter },
	{ 0 }
};
