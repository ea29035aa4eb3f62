/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Back-off between steals: a thief that gains too little only slows its victims down. */
#ifndef IVL_STEAL_BACKOFF_H
#define IVL_STEAL_BACKOFF_H

#include <stdint.h>

#include "tunables.h"

/* Of one worker; initially zero. */
struct ivl_steal_backoff {
	uint64_t gained_ns;		/* by recent steals, beyond their cost */
	uint64_t pause_ns;		/* the last pause; 0: the last steals paid off */
};

/*
 * The pause before the next steal, given how long the last stolen work took: doubled each time, 0
 * if stealing pays. Steals are averaged: where one task in eight has children, and few of these
 * many, the large ones pay for the small ones.
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
