/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What belongs to the process and not to a runtime: signals, fork(), the end of a thread.
 * All of it is there while a runtime is, and gone afterwards.
 */
#ifndef IVL_PROCESS_H
#define IVL_PROCESS_H

struct ivl_worker;

/* A runtime begins: 0 or an errno value; and has ended. */
int ivl_process_enter(void);
void ivl_process_leave(void);

/* Say, once, that there are fewer workers than asked for, for want of threads. */
void ivl_process_say_fewer(unsigned int workers, unsigned int asked_for);

/* The calling thread is a worker's; it has `bytes` at `stack` for a handler. It ends. */
void ivl_process_add_thread(struct ivl_worker *worker, void *stack, unsigned long bytes);
void ivl_process_remove_thread(void *stack);

#endif
