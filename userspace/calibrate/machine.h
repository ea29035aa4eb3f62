/* SPDX-License-Identifier: GPL-2.0 */
/* The CPUs that this program may use, and their caches, by hwloc. */
#ifndef CALIBRATE_MACHINE_H
#define CALIBRATE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum { L1I, L1D, L2, L3, CACHES };

/* All zero: the machine has no such cache, or does not report it. */
struct cache {
	size_t size;		/* bytes */
	int ways;		/* 0: unknown; -1: fully associative */
	unsigned int line;	/* bytes */
	unsigned int cpus;	/* CPUs of the affinity mask that share it */
};

#define NO_CPU (-1)

struct machine {
	char cpu_name[128];	/* "": unknown */
	unsigned int cpus;	/* in the affinity mask */
	int cpu;		/* for measurements of one thread */
	int sibling;		/* on another core under the same last-level cache, or NO_CPU */
	int stranger;		/* under another last-level cache, or NO_CPU */
	struct cache caches[CACHES];
	size_t memory;		/* bytes of the machine; 0: unknown */
};

/* Examine the machine. Exits with a message if hwloc fails. */
void machine_look(struct machine *machine);

/* The CPU for the second of two threads: sibling, else stranger, else NO_CPU. */
static inline int machine_other(const struct machine *machine)
{
	return machine->sibling != NO_CPU ? machine->sibling : machine->stranger;
}

#endif
