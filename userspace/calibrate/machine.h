/* SPDX-License-Identifier: GPL-2.0 */
/* The CPUs that this program may use, and their caches, by hwloc. */
#ifndef CALIBRATE_MACHINE_H
#define CALIBRATE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum { L1I, L1D, L2, L3, CACHES };

/* 0 everywhere: the machine has no such cache, or does not tell. */
struct cache {
	size_t size;		/* bytes */
	int ways;		/* 0: not told; -1: fully associative */
	unsigned int line;	/* bytes */
	unsigned int cpus;	/* that this program may use and that share it */
};

#define NO_CPU (-1)

struct machine {
	char cpu_name[128];	/* "" : not told */
	unsigned int cpus;	/* that this program may use */
	int cpu;		/* on which one thread is measured */
	int sibling;		/* on another core under the same last-level cache, or NO_CPU */
	int stranger;		/* under another last-level cache, or NO_CPU */
	struct cache caches[CACHES];
	size_t memory;		/* bytes of the machine, 0: not told */
};

/* Look at the machine. Exits with a message where hwloc cannot. */
void machine_look(struct machine *machine);

/* Of both, the one that two threads are measured on; NO_CPU where there is none. */
static inline int machine_other(const struct machine *machine)
{
	return machine->sibling != NO_CPU ? machine->sibling : machine->stranger;
}

#endif
