/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a worker finds work. */
#ifndef IVL_FIND_H
#define IVL_FIND_H

#include "worker.h"

/* Look for work once, everywhere it may be; NULL: none. */
struct ivl_work *ivl_find(struct ivl_worker *worker);
/* As it, but for what other workers may take as well and that is not to be done first. */
struct ivl_work *ivl_find_own(struct ivl_worker *worker);
/* Is there any, as far as one can see without taking it? */
bool ivl_anything(struct ivl_worker *worker);
/*
 * By the last that is awake: all that runs waits, and may wait for what has no stack.
 * Make one more, or refuse some work. True: there is something to do now.
 */
bool ivl_serve_stackless(ivl_runtime *runtime);
/* Is there such work? */
bool ivl_stackless_there(ivl_runtime *runtime);

#endif
