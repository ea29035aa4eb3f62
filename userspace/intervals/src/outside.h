/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of no runtime, which use the process's. */
#ifndef IVL_OUTSIDE_H
#define IVL_OUTSIDE_H

#include <stdbool.h>

#include "worker.h"

struct ivl_finish;

/*
 * Run function(arg) in ivl_default(), the caller taking part. False: the caller is in a runtime, or
 * none can be had; it has not run.
 */
bool ivl_run_outside(void (*function)(void *arg), void *arg);
/* For a loop: worth it only if there is more than one part. */
static inline bool ivl_run_parts_outside(size_t count, size_t grain,
					 void (*function)(void *arg), void *arg)
{
	return __builtin_expect(!ivl_self(), 0) && count > (grain ? grain : 1) &&
	       ivl_run_outside(function, arg);
}

/* In the child of a fork(), whatever other threads were doing. */
void ivl_outside_after_fork(void);

#endif
