/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Timed sleep of a throttled worker (feedback.h), which then looks for work in any case. So
 * producers may rely on it as on a searcher. At most one worker per leaf is in it; other throttled
 * workers of the leaf sleep as if there were no work while they see it.
 *
 * After the timed sleep, and before it sleeps for good, the worker passes a full fence (S4 of
 * idle.c). A thread that sees the timed sleep after a fence of its own comes before that, so its
 * work is found.
 */
#ifndef IVL_TIMED_SLEEP_H
#define IVL_TIMED_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "atomics.h"

struct ivl_timed_sleep {
	_Atomic(uint32_t) word;		/* see timed_sleep.c; 0: no worker sleeps */
};

/* Is a worker in it, or has been woken and not looked yet? */
bool ivl_timed_sleep_active(const struct ivl_timed_sleep *timed_sleep);
/* False: another worker is in it. */
bool ivl_timed_sleep_begin(struct ivl_timed_sleep *timed_sleep);
/* Until the deadline (ns of CLOCK_MONOTONIC), a wake-up, or spuriously. True: it may sleep on. */
bool ivl_timed_sleep_until(struct ivl_timed_sleep *timed_sleep, uint64_t until);
void ivl_timed_sleep_end(struct ivl_timed_sleep *timed_sleep);
/* Make the sleeper look now. Needs a full fence before, after what it is to see. */
void ivl_timed_sleep_wake(struct ivl_timed_sleep *timed_sleep);

#endif
