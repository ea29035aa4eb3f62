/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_IDLE_H
#define IVL_IDLE_H

#include "worker.h"

/* Search, sleep, and return with work. NULL: ivl_over(). */
struct ivl_work *ivl_idle(struct ivl_worker *worker);

/*
 * How long a search takes is measured when workers start, unless the program says it: as long as a
 * wake-up, so that a worker which sleeps too early or too late costs at most twice the least. The
 * workers sleep at the gate, and each wakes the next. Both are called with the gate closed.
 */
void ivl_idle_gate_opens(ivl_runtime *runtime);
void ivl_idle_gate_passed(ivl_runtime *runtime);

#endif
