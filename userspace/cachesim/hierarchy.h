/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a model: cachesim.c builds it, hierarchy.c runs it.
 *
 * A *hierarchy* is what sits on the bus as one agent: an L3 and all that lies
 * above it. With a private L3 it is a CPU, with a shared one a cluster.
 */
#ifndef CACHESIM_HIERARCHY_H
#define CACHESIM_HIERARCHY_H

#include "bus.h"
#include "cache_array.h"
#include "cachesim.h"
#include "line_directory.h"

/* The values of a group's loads that a CPU remembers. */
#define MOST_VALUES 16u

#define NO_ADDRESS UINT64_MAX

struct cpu {
	enum cachesim_mode mode;	/* of the code it executes */
	struct cachesim_counts *now;	/* counts of that mode */
	uint64_t vaddr;			/* of the current access to data; NO_ADDRESS: none */
	uint64_t *clock;		/* in cs->clocks */
	struct bus *bus;		/* the cluster's; NULL: never busy */
	unsigned int cluster;
	uint64_t miss;			/* time of the current miss so far */
	uint64_t waited;		/* for the bus; included in miss */
	bool transfers;			/* the current miss: another CPU has the line Modified */
	struct {
		uint64_t issued;	/* time of the first miss */
		uint64_t stalled;	/* time that the CPU has waited for the group */
		uint32_t room;		/* misses that may still join */
		uint64_t transferred;	/* when the last line comes that another CPU had Modified */
		uint32_t values;	/* how many of `value` are known */
		uint64_t value[MOST_VALUES];	/* that its loads bring */
	} group;			/* of overlapping misses */
	bool missed;			/* the last load did */
	struct cache_array l1d, l1i, l2, l3;	/* l3 may be the cluster's */
	uint64_t cpu_bit;
	uint64_t hierarchy_bit;
	struct cachesim_counts counts[CACHESIM_MODES];
};

struct cachesim {
	struct cpu *cpu;
	struct line_directory directory;
	bool write_through;		/* the L1D */
	uint32_t fetches_per_line;	/* log2 of L1I lines in an L2 line */
	uint32_t data_per_line;		/* log2 of L1D lines in an L2 line */
	uint64_t *entries;		/* of all arrays */
	unsigned int cpus;
	uint64_t members[CACHESIM_MAX_CPUS];	/* CPUs of each hierarchy */
	struct cpu *agent[CACHESIM_MAX_CPUS];	/* one CPU of each hierarchy, to find its L3 */
	uint64_t clocks[CACHESIM_MAX_CPUS];
	struct bus *buses;		/* by cluster; NULL: never busy */
	uint64_t node_memory;		/* bytes of each cluster; 0: memory is of one node */
	uint32_t cpi[CACHESIM_MODES];
	struct cachesim_machine machine;
};

/* A latency of the machine, in the model's unit of time. */
#define TIME(cs, field) ((uint64_t)(cs)->machine.field * CACHESIM_CYCLE)

/* `c` executes instructions, apart from their fetch. */
static inline void spend_instructions(const struct cachesim *cs, struct cpu *c,
				      enum cachesim_mode mode, unsigned int instructions)
{
	uint64_t time = (uint64_t)instructions * cs->cpi[mode];

	c->mode = mode;
	c->now = &c->counts[mode];
	c->now->instructions += instructions;
	c->now->cycles += time;
	*c->clock += time;
}

static inline uint64_t physical(uint64_t address)
{
	return address & ((1ull << CACHESIM_PHYS_BITS) - 1);
}

#endif
