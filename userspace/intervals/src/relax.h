/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting for the next few instructions of another thread, which may lack a CPU. */
#ifndef IVL_RELAX_H
#define IVL_RELAX_H

#ifdef IVL_MODEL
#define ivl_relax(tries) ((void)(tries), rl::yield(1, $))
#else
#include <sched.h>
#include <urcu/arch.h>

/* For the loop's turn number `tries`. */
static inline void ivl_relax(unsigned int tries)
{
	if (tries < 128)
		caa_cpu_relax();
	else
		sched_yield();
}
#endif

#endif
