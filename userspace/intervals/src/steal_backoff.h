/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether to steal again: a thief that takes too little only slows its victims down. */
#ifndef IVL_STEAL_BACKOFF_H
#define IVL_STEAL_BACKOFF_H

#include <stdint.h>

#include "tunables.h"

/* A worker's own; all 0 when it begins. */
struct ivl_steal_backoff {
	uint64_t gained_ns;		/* by steals of late, beyond what they cost */
	uint64_t pause_ns;		/* the last pause; 0: none since it was worth it */
};

/*
 * How long to wait before the next steal, now that what the last one got took so long: twice as long
 * each time; 0: not at all. Not each steal must be worth it: where one task in eight has children,
 * and few of these have very many, they pay for the others.
 */
static inline uint64_t ivl_pause_after(struct ivl_steal_backoff *of, uint64_t took_ns)
{
	const uint64_t gained = of->gained_ns + took_ns;

	if (gained >= IVL_STEAL_WORTH_NS) {
		of->gained_ns = gained - IVL_STEAL_WORTH_NS;
		if (of->gained_ns > IVL_MOST_GAINED_NS)
			of->gained_ns = IVL_MOST_GAINED_NS;
		of->pause_ns = 0;
	} else {
		of->gained_ns = 0;
		if (of->pause_ns < IVL_LONGEST_PAUSE_NS)
			of->pause_ns = of->pause_ns ? 2 * of->pause_ns : IVL_LEAST_PAUSE_NS;
	}
	return of->pause_ns;
}

#endif
