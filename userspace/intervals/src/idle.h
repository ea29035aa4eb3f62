/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_IDLE_H
#define IVL_IDLE_H

#include "worker.h"

/* No work was found: search, sleep, and return with some. NULL: it is over (worker.h). */
struct ivl_work *ivl_idle(struct ivl_worker *worker);

#endif
