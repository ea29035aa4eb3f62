// SPDX-License-Identifier: GPL-2.0
#include "../single_ctr.c"
#include "sabotage.h"

/* What a race of two increments leaves behind, on the last line of the counter. */
SABOTAGE(lost_update)
{
	--*(uint64_t *)((char *)padded_at(&counter, 0) + (opt->cs_lines - 1) * opt->line);
}
