/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of a worker: one of the runtime's, or one that has a seat. */
#ifndef IVL_THREAD_H
#define IVL_THREAD_H

#include "worker.h"

#define IVL_SIGNAL_STACK (64 << 10)	/* for a handler that tells of a stack that is used up */
#define IVL_BASE_STACK (256 << 10)	/* at least: of a worker's thread, which has that in it */

/* The calling thread is the worker from now on, with so many bytes for a handler; and is not. */
void ivl_thread_enter(struct ivl_worker *worker, char *signal_stack);
void ivl_thread_leave(char *signal_stack);

/*
 * The calling thread is the worker's, and its stack the worker's base: for a trace and for
 * the sanitizers, which must know.
 */
void ivl_thread_take(struct ivl_worker *worker);

/* At the base: find work and run it, until it is over (worker.h). */
void ivl_thread_work(struct ivl_worker *worker);

#endif
