// SPDX-License-Identifier: GPL-2.0
#include "../counters.c"
#include "sabotage.h"

SABOTAGE(lost_update)
{
	--*(uint64_t *)((char *)padded_at(&counters, opt->threads - 1) +
			(opt->cs_lines - 1) * opt->line);
}

/* An increment that hit a neighbour's counter: the sum of all is right. */
SABOTAGE(wrong_counter)
{
	--*(uint64_t *)padded_at(&counters, 0);
	++*(uint64_t *)padded_at(&counters, 1);
}
