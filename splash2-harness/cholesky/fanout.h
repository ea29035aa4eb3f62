/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHOLESKY_FANOUT_H
#define CHOLESKY_FANOUT_H

#include "common/splash.h"
#include "symbolic.h"

void fanout_init(struct factor *factor, unsigned int threads);

/* By every worker: `factor`, which holds the matrix, becomes the matrix's factor. */
void fanout_work(struct splash_worker *w);

/* Did all tasks that were sent arrive, and every update? */
void fanout_check(unsigned int threads, struct verdict *verdict);

#endif
