/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of the process instead of a runtime: signals, fork(), the end of threads. Exists while a
 * runtime does.
 */
#ifndef IVL_PROCESS_H
#define IVL_PROCESS_H

struct ivl_worker;

/* A runtime starts (0 or an errno value); has stopped. */
int ivl_process_enter(void);
void ivl_process_leave(void);

/* Report, once, that there are threads for fewer workers than asked for. */
void ivl_process_say_fewer(unsigned int workers, unsigned int asked_for);

/* The calling thread becomes a worker's, with a signal stack; ends as one. */
void ivl_process_add_thread(struct ivl_worker *worker, void *stack, unsigned long bytes);
void ivl_process_remove_thread(void *stack);

#endif
