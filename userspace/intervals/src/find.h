/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding work. */
#ifndef IVL_FIND_H
#define IVL_FIND_H

#include "worker.h"

/* Look once in all places; NULL: none. */
struct ivl_work *ivl_find(struct ivl_worker *worker);
/* Only work that other workers cannot take, or that comes first. */
struct ivl_work *ivl_find_own(struct ivl_worker *worker);
/* Is there work, as far as visible without taking it? */
bool ivl_anything(struct ivl_worker *worker);
/*
 * By the last worker awake: all running contexts wait, maybe for stackless work. Make one more
 * stack, or refuse some work. True: there is something to do.
 */
bool ivl_serve_stackless(ivl_runtime *runtime);
bool ivl_stackless_there(ivl_runtime *runtime);

#endif
