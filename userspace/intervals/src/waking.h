/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who puts work where others can find it has them awake; idle.c has the protocol. */
#ifndef IVL_WAKING_H
#define IVL_WAKING_H

#include "worker.h"

/* Somebody who can get at work put at this place should be awake. */
void ivl_idle_wake(ivl_runtime *runtime, const struct ivl_place *place);
/* As the above for the worker's place, where somebody is asleep at all; 0. */
int ivl_idle_wake_near(struct ivl_worker *worker);

#endif
