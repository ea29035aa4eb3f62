// SPDX-License-Identifier: GPL-2.0
#include "../affinity.c"
#include "sabotage.h"

SABOTAGE(lost_update)
{
	--*(uint64_t *)((char *)padded_at(&counters, 1) + (opt->cs_lines - 1) * opt->line);
}

/* A phase that took the wrong counter: the sum of both is right. */
SABOTAGE(wrong_counter)
{
	for (unsigned int i = 0; i < opt->cs_lines; i++) {
		--*(uint64_t *)((char *)padded_at(&counters, 0) + i * opt->line);
		++*(uint64_t *)((char *)padded_at(&counters, 1) + i * opt->line);
	}
}
