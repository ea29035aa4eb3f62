/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker's state for ending intervals. model.h has ivl_settle(). */
#ifndef IVL_SETTLE_H
#define IVL_SETTLE_H

#include "deferred.h"

/* Ended children of the interval `deferred.from` that have not been reported to it. */
struct ivl_ended {
	struct ivl_deferred deferred;
	unsigned int count;
	unsigned int references;	/* to the interval, taken ahead */
};

/* Report them: the worker does not wait after all. */
void ivl_report_ended(struct ivl_worker *worker, bool leaves);

#endif
