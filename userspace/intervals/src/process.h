/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of the process instead of a runtime: its number, signals, fork(), the end of threads.
 */
#ifndef IVL_PROCESS_H
#define IVL_PROCESS_H

#include <stdatomic.h>
#include <sys/types.h>

/* A runtime starts (0 or an errno value); has stopped. */
int ivl_process_enter(void);
void ivl_process_leave(void);

/* Report, once, that there are threads for fewer workers than asked for. */
void ivl_process_say_fewer(unsigned int workers, unsigned int asked_for);

/* getpid(), from a page that the kernel clears in a forked child; NULL: there is none. */
extern _Atomic(pid_t) *ivl_process_page;
pid_t ivl_process_ask(void);
static inline pid_t ivl_process_id(void)
{
	const pid_t known = ivl_process_page ?
		atomic_load_explicit(ivl_process_page, memory_order_relaxed) : 0;

	return __builtin_expect(known != 0, 1) ? known : ivl_process_ask();
}

/* The calling thread becomes a worker's, with a stack for signal handlers; ends as one. */
void ivl_process_add_thread(void *stack, unsigned long bytes);
void ivl_process_remove_thread(void *stack);
/* The same for a thread from outside, whose signal stack stays until it ends. */
void ivl_process_add_visitor(unsigned long bytes);

#endif
