/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_IDLE_H
#define IVL_IDLE_H

#include "worker.h"

/* Search, sleep, and return with work. NULL: ivl_over(). */
struct ivl_work *ivl_idle(struct ivl_worker *worker);

#endif
