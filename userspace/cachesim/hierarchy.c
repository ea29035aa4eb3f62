// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses of a CPU to its caches, and coherence between CPUs.
 *
 * Inclusion: L3 includes L2 includes L1I and L1D. A line that the L3 does not hold
 * is in no cache above it, so the bus looks at L3 states only.
 *
 * States: the L3's state grants access towards the bus; the state in L2 and L1D
 * grants access towards all other CPUs. The first store to an Exclusive line makes
 * it Modified at every level at once: the place of the newest data in the hierarchy
 * changes no count. Under a shared L3 it would change time (modified_in()). An L1I,
 * and an L1D that writes through, holds its lines Shared: they never need permission
 * to write.
 *
 * All accesses are in this file, so that the compiler inlines the path of a hit.
 */
#include "hierarchy.h"

/* Bytes from a pointer to what is accessed through it, at most: larger structures are rare. */
#define REACH 4096u

#define for_each_bit(bit, mask) \
	for (uint64_t _m = (mask); _m && ((bit) = __builtin_ctzll(_m), 1); _m &= _m - 1)

/* Is the address of the current miss a value that the group brings? */
static bool is_awaited(const struct cpu *c)
{
	for (uint32_t i = 0; i < c->group.values; i++)
		if (c->vaddr - c->group.value[i] < REACH)
			return true;
	return false;
}

/*
 * Does the current miss overlap with the group of misses before it? The window counts
 * instructions, which are measured as time since the group began, less its stalls. A CPU
 * that has waited meanwhile has left its group.
 */
static bool overlaps(const struct cachesim *cs, const struct cpu *c)
{
	uint64_t window = (uint64_t)cs->machine.overlap_window * cs->cpi[c->mode];

	return c->group.room && *c->clock - c->group.issued - c->group.stalled <= window &&
	       !is_awaited(c);
}

/* When the current miss was issued. */
static uint64_t issued(const struct cachesim *cs, const struct cpu *c)
{
	return overlaps(cs, c) ? c->group.issued : *c->clock;
}

/* Returns what is left of the current miss, which joins the group or begins another. */
static uint64_t join_group(const struct cachesim *cs, struct cpu *c)
{
	uint64_t left = c->miss;

	if (overlaps(cs, c)) {
		uint64_t gone = *c->clock - c->group.issued;

		left = left > gone ? left - gone : 0;
		c->group.room--;
	} else {
		c->group.issued = *c->clock;
		c->group.stalled = 0;
		c->group.room = cs->machine.overlap - 1;
		c->group.values = 0;
	}
	if (c->transfers) {
		uint64_t first = c->group.transferred + TIME(cs, latency.next_transfer);

		if (*c->clock + left < first)
			left = first - *c->clock;
		c->group.transferred = *c->clock + left;
		c->transfers = false;
	}
	c->group.stalled += left;
	return left;
}

/* The current miss is answered, and `c` has waited for it. */
static void stall(const struct cachesim *cs, struct cpu *c)
{
	uint64_t time = cs->machine.overlap > 1 ? join_group(cs, c) : c->miss;

	*c->clock += time;
	c->now->cycles += time;
	c->now->stall_cycles += time;
	c->now->bus_wait_cycles += c->waited < time ? c->waited : time;
	c->miss = c->waited = 0;
}

static void drop_from_l1(struct cachesim *cs, struct cpu *c, uint64_t line)
{
	for (uint64_t i = 0; i < 1ull << cs->data_per_line; i++)
		cache_drop(&c->l1d, (line << cs->data_per_line) + i);
	for (uint64_t i = 0; i < 1ull << cs->fetches_per_line; i++)
		cache_drop(&c->l1i, (line << cs->fetches_per_line) + i);
}

static void drop_from_cpus(struct cachesim *cs, struct line_holders *h, uint64_t cpus,
			   uint64_t line)
{
	unsigned int i;

	for_each_bit(i, h->cpus & cpus) {
		cache_drop(&cs->cpu[i].l2, line);
		drop_from_l1(cs, &cs->cpu[i], line);
	}
	h->cpus &= ~cpus;
}

static void share_in_cpus(struct cachesim *cs, const struct line_holders *h, uint64_t cpus,
			  uint64_t line)
{
	unsigned int i;

	for_each_bit(i, h->cpus & cpus) {
		struct cpu *c = &cs->cpu[i];

		cache_mark(&c->l2, line, CACHESIM_S);
		for (uint64_t k = 0; k < 1ull << cs->data_per_line; k++)
			cache_mark(&c->l1d, (line << cs->data_per_line) + k, CACHESIM_S);
	}
}

/* The bus invalidates the line in `holders`; returns true if one had it Modified. */
static bool bus_invalidate(struct cachesim *cs, struct cpu *c, struct line_holders *h,
			   uint64_t holders, uint64_t line)
{
	bool modified = false;
	unsigned int i;

	for_each_bit(i, holders) {
		const struct cache_array *l3 = &cs->agent[i]->l3;

		modified |= entry_state(*cache_find(l3, line)) == CACHESIM_M;
		cache_drop(l3, line);
		drop_from_cpus(cs, h, cs->members[i], line);
		c->now->invalidations++;
	}
	h->hierarchies &= ~holders;
	return modified;
}

/* The line becomes Shared in `holders`; returns true if one had it Modified. */
static bool bus_share(struct cachesim *cs, const struct line_holders *h, uint64_t holders,
		      uint64_t line)
{
	unsigned int owner = __builtin_ctzll(holders);
	enum cachesim_state was;
	uint64_t *entry;

	if (holders & (holders - 1))
		return false;	/* several holders: all are Shared already */
	entry = cache_find(&cs->agent[owner]->l3, line);
	was = entry_state(*entry);
	if (was == CACHESIM_S)
		return false;
	entry_set_state(entry, CACHESIM_S);
	share_in_cpus(cs, h, cs->members[owner], line);
	return was == CACHESIM_M;
}

/* The state of the line in the one of these CPUs that holds it; Invalid if none or several do. */
static enum cachesim_state state_in(const struct cachesim *cs, uint64_t cpus, uint64_t line)
{
	if (!cpus || (cpus & (cpus - 1)))
		return CACHESIM_I;	/* several holders: all are Shared */
	return entry_state(*cache_find(&cs->cpu[__builtin_ctzll(cpus)].l2, line));
}

/*
 * Does a load take the line from the one hierarchy that holds it? A CPU there has written it since
 * it came.
 */
static bool bus_takes(const struct cachesim *cs, const struct line_holders *h, uint64_t line)
{
	uint64_t holders = h->hierarchies;

	return cs->machine.migratory && holders && !(holders & (holders - 1)) &&
	       state_in(cs, h->cpus & cs->members[__builtin_ctzll(holders)], line) == CACHESIM_M;
}

/* The current miss moves a line over the bus. Returns how long it waits for the bus. */
static uint64_t move_line(const struct cachesim *cs, struct cpu *c)
{
	return c->bus ? bus_take(c->bus, issued(cs, c) + c->miss) : 0;
}

static void evict_from_l3(struct cachesim *cs, struct cpu *c, uint64_t victim)
{
	struct line_holders *h = line_directory_at(&cs->directory, entry_line(victim));

	if (entry_state(victim) == CACHESIM_M) {
		c->now->writebacks++;
		c->now->bus_requests++;
		move_line(cs, c);	/* out of a buffer: the CPU does not wait */
	}
	drop_from_cpus(cs, h, cs->members[__builtin_ctzll(c->hierarchy_bit)],
		       entry_line(victim));
	h->hierarchies &= ~c->hierarchy_bit;
}

/* Does the memory of `line` belong to another node than that of `c`? */
static bool is_remote(const struct cachesim *cs, const struct cpu *c, uint64_t line)
{
	unsigned int last = cs->cpu[cs->cpus - 1].cluster;
	uint64_t node;

	if (!cs->node_memory)
		return false;
	node = (line << c->l3.shift) / cs->node_memory;
	return c->cluster != (node < last ? node : last);
}

/* Bring `line`, which the L3 does not hold, in over the bus. Returns the state granted. */
static enum cachesim_state bus_read(struct cachesim *cs, struct cpu *c, struct line_holders *h,
				    uint64_t line, bool write)
{
	uint64_t holders = h->hierarchies;
	bool alone = write || bus_takes(cs, h, line);
	enum cachesim_state state = alone ? CACHESIM_M : holders ? CACHESIM_S : CACHESIM_E;
	uint64_t victim;

	c->now->l3_misses++;
	c->now->bus_requests++;
	c->waited = move_line(cs, c);
	c->miss += c->waited;
	if (holders && (alone ? bus_invalidate(cs, c, h, holders, line)
			     : bus_share(cs, h, holders, line))) {
		c->now->cache_to_cache++;
		c->miss += TIME(cs, latency.cache_to_cache);
	} else if (is_remote(cs, c, line)) {
		c->now->remote_memory++;
		c->miss += TIME(cs, latency.remote_memory);
	} else {
		c->miss += TIME(cs, latency.memory);
	}
	victim = cache_insert(&c->l3, line, state);
	if (victim)
		evict_from_l3(cs, c, victim);
	h->hierarchies |= c->hierarchy_bit;
	return alone && !write ? CACHESIM_E : state;
}

/* The L2 asks the L3 for the line, or for permission to write it. Returns the state granted. */
static enum cachesim_state l3_access(struct cachesim *cs, struct cpu *c, uint64_t line,
				     bool write)
{
	struct line_holders *h = line_directory_at(&cs->directory, line);
	uint64_t *entry = cache_use(&c->l3, line);
	enum cachesim_state state, theirs;
	uint64_t siblings;

	c->now->l3_references++;
	c->miss += TIME(cs, latency.l3);
	if (!entry) {
		state = bus_read(cs, c, h, line, write);
		h->cpus |= c->cpu_bit;
		return state;
	}
	siblings = h->cpus & cs->members[__builtin_ctzll(c->hierarchy_bit)] & ~c->cpu_bit;
	theirs = state_in(cs, siblings, line);
	/* Exclusive there and Modified here: a load has taken it, and memory is old. */
	c->transfers = theirs == CACHESIM_M ||
		       (theirs == CACHESIM_E && entry_state(*entry) == CACHESIM_M);
	if (c->transfers)
		c->miss += TIME(cs, latency.transfer);
	if (write) {
		if (entry_state(*entry) == CACHESIM_S) {
			c->now->bus_requests++;
			c->miss += TIME(cs, latency.upgrade);
			bus_invalidate(cs, c, h, h->hierarchies & ~c->hierarchy_bit, line);
		}
		entry_set_state(entry, CACHESIM_M);
	}
	state = entry_state(*entry);
	if (siblings && (write || (cs->machine.migratory && theirs == CACHESIM_M))) {
		drop_from_cpus(cs, h, siblings, line);
		c->now->invalidations += __builtin_popcountll(siblings);
	} else if (siblings) {
		share_in_cpus(cs, h, siblings, line);
		state = CACHESIM_S;
	}
	if (cs->machine.migratory && !write && state == CACHESIM_M)
		state = CACHESIM_E;	/* until it is written here */
	h->cpus |= c->cpu_bit;
	return state;
}

/* An L1 asks the L2 for the line, or for permission to write it. Returns the state granted. */
static enum cachesim_state l2_access(struct cachesim *cs, struct cpu *c, uint64_t line,
				     bool write)
{
	uint64_t *entry = cache_use(&c->l2, line);
	enum cachesim_state state;
	uint64_t victim;

	c->now->l2_references++;
	if (entry && (!write || entry_state(*entry) == CACHESIM_M))
		return entry_state(*entry);
	if (entry) {
		if (entry_state(*entry) == CACHESIM_E)
			cache_mark(&c->l3, line, CACHESIM_M);
		else
			l3_access(cs, c, line, true);
		/* The L3 held the line, so it evicted none: the entry has not moved. */
		entry_set_state(entry, CACHESIM_M);
		return CACHESIM_M;
	}
	c->now->l2_misses++;
	state = l3_access(cs, c, line, write);
	victim = cache_insert(&c->l2, line, state);
	if (victim) {
		drop_from_l1(cs, c, entry_line(victim));
		line_directory_at(&cs->directory, entry_line(victim))->cpus &= ~c->cpu_bit;
	}
	return state;
}

static inline void fetch_line(struct cachesim *cs, struct cpu *c, uint64_t line)
{
	c->now->l1i_references++;
	if (cache_use(&c->l1i, line))
		return;
	c->now->l1i_misses++;
	c->vaddr = NO_ADDRESS;
	c->miss = TIME(cs, latency.l2);
	l2_access(cs, c, line >> cs->fetches_per_line, false);
	stall(cs, c);
	cache_insert(&c->l1i, line, CACHESIM_S);
}

static inline void load_line(struct cachesim *cs, struct cpu *c, uint64_t line)
{
	enum cachesim_state state;

	c->now->l1d_references++;
	if (cache_use(&c->l1d, line))
		return;
	c->now->l1d_misses++;
	c->miss = TIME(cs, latency.l2);
	state = l2_access(cs, c, line >> cs->data_per_line, false);
	stall(cs, c);
	c->missed = true;
	cache_insert(&c->l1d, line, cs->write_through ? CACHESIM_S : state);
}

static void store_back(struct cachesim *cs, struct cpu *c, uint64_t line)
{
	uint64_t *entry = cache_use(&c->l1d, line);
	uint64_t below = line >> cs->data_per_line;

	if (!entry) {
		c->now->l1d_misses++;
		c->miss = TIME(cs, latency.l2);
		l2_access(cs, c, below, true);
		stall(cs, c);
		cache_insert(&c->l1d, line, CACHESIM_M);
		return;
	}
	switch (entry_state(*entry)) {
	case CACHESIM_M:
		return;
	case CACHESIM_E:
		cache_mark(&c->l2, below, CACHESIM_M);
		cache_mark(&c->l3, below, CACHESIM_M);
		break;
	default:
		/* Inclusion: the L2 holds the line, so nothing leaves the L1D. */
		l2_access(cs, c, below, true);
		stall(cs, c);
	}
	entry_set_state(entry, CACHESIM_M);
}

static inline void store_line(struct cachesim *cs, struct cpu *c, uint64_t line)
{
	c->now->l1d_references++;
	if (!cs->write_through) {
		store_back(cs, c, line);
		return;
	}
	if (!cache_use(&c->l1d, line)) {
		c->now->l1d_misses++;
		c->miss = TIME(cs, latency.l2);
	}
	l2_access(cs, c, line >> cs->data_per_line, true);
	if (c->miss)
		stall(cs, c);
}

void cachesim_execute(struct cachesim *cs, unsigned int cpu, enum cachesim_mode mode,
		      unsigned int instructions, const uint64_t *lines, unsigned int n)
{
	struct cpu *c = &cs->cpu[cpu];

	spend_instructions(cs, c, mode, instructions);
	for (unsigned int i = 0; i < n; i++)
		fetch_line(cs, c, lines[i]);
}

void cachesim_spend(struct cachesim *cs, unsigned int cpu, unsigned int cycles)
{
	struct cpu *c = &cs->cpu[cpu];
	uint64_t time = (uint64_t)cycles * CACHESIM_CYCLE;

	c->now->cycles += time;
	*c->clock += time;
}

void cachesim_load(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size)
{
	struct cpu *c = &cs->cpu[cpu];
	uint64_t line = physical(phys) >> c->l1d.shift;
	uint64_t last = physical(phys + size - 1) >> c->l1d.shift;

	c->missed = false;
	load_line(cs, c, line);
	while (line != last)
		load_line(cs, c, ++line);
}

void cachesim_store(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size)
{
	struct cpu *c = &cs->cpu[cpu];
	uint64_t line = physical(phys) >> c->l1d.shift;
	uint64_t last = physical(phys + size - 1) >> c->l1d.shift;

	store_line(cs, c, line);
	while (line != last)
		store_line(cs, c, ++line);
}

void cachesim_locked_load(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size)
{
	cs->cpu[cpu].group.room = 0;
	cachesim_load(cs, cpu, phys, size);
}

void cachesim_locked_store(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size)
{
	cachesim_store(cs, cpu, phys, size);
	cs->cpu[cpu].group.room = 0;
}

bool cachesim_missed(const struct cachesim *cs, unsigned int cpu)
{
	return cs->cpu[cpu].missed;
}

void cachesim_loaded(struct cachesim *cs, unsigned int cpu, uint64_t value)
{
	struct cpu *c = &cs->cpu[cpu];

	if (c->group.values < MOST_VALUES)
		c->group.value[c->group.values++] = value;
}

unsigned int cachesim_lock_delay(const struct cachesim *cs, unsigned int cpu, uint64_t phys)
{
	const struct cachesim_latency *latency = &cs->machine.latency;
	enum cachesim_state state = cachesim_state(cs, cpu, CACHESIM_L2, phys);

	if (state == CACHESIM_M || state == CACHESIM_E)
		return 0;
	return latency->l2 + latency->l3 + latency->transfer;
}
