/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shortest path of an access: to the line that was used last of its set. It stays the last to
 * leave, in an LRU and in a FIFO, so that nothing but counts changes. Every other access takes the
 * way of cachesim_execute(), cachesim_load() and cachesim_store(), with the same result.
 */
#ifndef CACHESIM_HITS_H
#define CACHESIM_HITS_H

#include "hierarchy.h"

static inline bool hits_first(const struct cache_array *a, uint64_t line)
{
	return entry_holds(*cache_set(a, line), line);
}

/* The L1D line of an access that lies in one line; ~0 for another. */
static inline uint64_t hits_line(const struct cpu *c, uint64_t phys, unsigned int size)
{
	uint64_t line = physical(phys) >> c->l1d.shift;

	return physical(phys + size - 1) >> c->l1d.shift == line ? line : ~0ull;
}

/* The next access of `cpu` to data is at this virtual address. */
static inline void hits_at(struct cachesim *cs, unsigned int cpu, uint64_t vaddr)
{
	cs->cpu[cpu].vaddr = vaddr;
}

/* Returns false if the load has taken the long way. */
static inline bool hits_load(struct cachesim *cs, unsigned int cpu, uint64_t phys,
			     unsigned int size)
{
	struct cpu *c = &cs->cpu[cpu];
	uint64_t line = hits_line(c, phys, size);

	if (__builtin_expect(hits_first(&c->l1d, line), 1)) {
		c->now->l1d_references++;
		return true;
	}
	cachesim_load(cs, cpu, phys, size);
	return false;
}

static inline void hits_store(struct cachesim *cs, unsigned int cpu, uint64_t phys,
			      unsigned int size)
{
	struct cpu *c = &cs->cpu[cpu];
	uint64_t line = hits_line(c, phys, size);
	uint64_t below = line >> cs->data_per_line;
	const uint64_t modified = below << 2 | CACHESIM_M;

	if (cs->write_through && hits_first(&c->l1d, line) && *cache_set(&c->l2, below) == modified) {
		c->now->l1d_references++;
		c->now->l2_references++;
	} else if (!cs->write_through && *cache_set(&c->l1d, line) == (line << 2 | CACHESIM_M)) {
		c->now->l1d_references++;
	} else {
		cachesim_store(cs, cpu, phys, size);
	}
}

/* As cachesim_execute(), of `n` lines from `line` on. */
static inline void hits_execute(struct cachesim *cs, unsigned int cpu, enum cachesim_mode mode,
				unsigned int instructions, uint64_t line, unsigned int n)
{
	struct cpu *c = &cs->cpu[cpu];

	spend_instructions(cs, c, mode, instructions);
	for (; n--; line++) {
		if (__builtin_expect(hits_first(&c->l1i, line), 1))
			c->now->l1i_references++;
		else
			cachesim_execute(cs, cpu, mode, 0, &line, 1);
	}
}

#endif
