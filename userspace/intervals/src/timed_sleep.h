/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The nap of a worker that is throttled (feedback.h): it sleeps for a while, and looks for work
 * when that is over, whatever happens. So others may rely on it as on one that searches. At each
 * leaf one naps at most; the others that are throttled there sleep as if there were no work, as
 * long as they see it nap.
 *
 * What is relied on is that it looks after it has ended its nap, and before it sleeps: then it
 * passes a full fence (S4 of idle.c). Who sees the nap after a fence of its own comes before that,
 * and what it had seen, or was woken for, is found.
 */
#ifndef IVL_TIMED_SLEEP_H
#define IVL_TIMED_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "atomics.h"

struct ivl_timed_sleep {
	_Atomic(uint32_t) word;		/* timed_sleep.c; 0: nobody naps */
};

/* Does somebody nap, or has been called and not looked yet? */
bool ivl_timed_sleep_active(const struct ivl_timed_sleep *timed_sleep);
/* The caller naps from now on; false: another one does. */
bool ivl_timed_sleep_begin(struct ivl_timed_sleep *timed_sleep);
/* Until then (ns of CLOCK_MONOTONIC), or it is called, or for no reason. True: it may go on. */
bool ivl_timed_sleep_until(struct ivl_timed_sleep *timed_sleep, uint64_t until);
void ivl_timed_sleep_end(struct ivl_timed_sleep *timed_sleep);
/* Who naps shall look now. After a full fence, that comes after what it shall see. */
void ivl_timed_sleep_wake(struct ivl_timed_sleep *timed_sleep);

#endif
