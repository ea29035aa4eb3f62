/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of a worker: one of the runtime's own, or an external one. */
#ifndef IVL_THREAD_H
#define IVL_THREAD_H

#include "worker.h"

#define IVL_SIGNAL_STACK (64 << 10)	/* for the handler that reports a stack overflow */
#define IVL_BASE_STACK (256 << 10)	/* least stack of a worker's thread */

/*
 * Make the calling thread the worker, with a stack of IVL_SIGNAL_STACK bytes for signal handlers,
 * and undo that. NULL: one that the thread keeps.
 */
void ivl_thread_enter(struct ivl_worker *worker, char *signal_stack);
void ivl_thread_leave(char *signal_stack);

/*
 * Tell the trace and the sanitizers that the calling thread is the worker's and its stack the base.
 */
void ivl_thread_take(struct ivl_worker *worker);

/* At the base: find work and run it until ivl_over(). */
void ivl_thread_work(struct ivl_worker *worker);

#endif
