/* SPDX-License-Identifier: GPL-2.0 */
/* What the runtime knows of the model of intervals: it has one, with a root. */
#ifndef IVL_MODEL_H
#define IVL_MODEL_H

#include "scheduler.h"

/* 0 or ENOMEM. */
int ivl_model_create(ivl_runtime *runtime, void **model);
void ivl_model_destroy(void *model);

#endif
