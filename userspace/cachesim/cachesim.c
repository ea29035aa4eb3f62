// SPDX-License-Identifier: GPL-2.0
/*
 * The hierarchy of one CPU, and coherence between CPUs.
 *
 * A *hierarchy* is what sits on the bus as one agent: an L3 and all that lies
 * above it. With a private L3 it is a CPU, with a shared one a cluster.
 *
 * Inclusion: L3 includes L2 includes L1I and L1D, so what the L3 does not hold
 * no one above holds, and the bus needs to look at L3 states only.
 *
 * States: the L3's says what the hierarchy may do towards the bus; an L2's and
 * L1D's say what the CPU may do towards everyone. A first store to an Exclusive
 * line makes it Modified at every level at once: where in the hierarchy the
 * newest data lies changes none of the counts. Under a shared L3 it would change
 * time (modified_in()). An L1I, and an L1D that writes through, holds its lines
 * Shared: they never need permission to write.
 */
#include "cachesim.h"

#include <stdlib.h>

#include "bus.h"
#include "cache_array.h"
#include "line_directory.h"

struct cpu {
	enum cachesim_mode mode;	/* that it runs in, */
	struct cachesim_counts *now;	/* and its counts */
	uint64_t *clock;		/* of cs->clocks */
	struct bus *bus;		/* the cluster's; NULL: never busy */
	unsigned int cluster;
	uint64_t miss;			/* what the miss under way takes, so far */
	uint64_t waited;		/* of that, for the bus */
	struct {
		uint64_t issued;	/* when the first miss was */
		uint64_t stalled;	/* what the CPU has waited for them */
		uint32_t room;		/* for further ones */
	} group;			/* of misses that overlap */
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
	struct cpu *agent[CACHESIM_MAX_CPUS];	/* one CPU of each: finds its L3 */
	uint64_t clocks[CACHESIM_MAX_CPUS];
	struct bus *buses;		/* by cluster; NULL: never busy */
	uint64_t node_memory;		/* bytes of each cluster; 0: memory is of one node */
	uint32_t cpi[CACHESIM_MODES];
	struct cachesim_machine machine;
};

/* Cycles that the machine takes for something, in the model's unit of time. */
#define TIME(cs, field) ((uint64_t)(cs)->machine.field * CACHESIM_CYCLE)

#define for_each_bit(bit, mask) \
	for (uint64_t _m = (mask); _m && ((bit) = __builtin_ctzll(_m), 1); _m &= _m - 1)

/*
 * Is the miss under way in the group of those before it? Instructions are told by the
 * time they took: what has gone by since the group began, but for its stalls. A CPU
 * that was made to wait meanwhile has left its group behind.
 */
static bool overlaps(const struct cachesim *cs, const struct cpu *c)
{
	uint64_t window = (uint64_t)cs->machine.overlap_window * cs->cpi[c->mode];

	return c->group.room && *c->clock - c->group.issued - c->group.stalled <= window;
}

/* When the miss under way was issued. */
static uint64_t issued(const struct cachesim *cs, const struct cpu *c)
{
	return overlaps(cs, c) ? c->group.issued : *c->clock;
}

/* What is left of the miss under way, which joins the group or begins another. */
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
	}
	c->group.stalled += left;
	return left;
}

/* The miss under way is answered, and `c` has waited for it. */
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

/* The bus takes the line from all `others`; true when one of them had modified it. */
static bool bus_invalidate(struct cachesim *cs, struct cpu *c, struct line_holders *h,
			   uint64_t others, uint64_t line)
{
	bool modified = false;
	unsigned int i;

	for_each_bit(i, others) {
		const struct cache_array *l3 = &cs->agent[i]->l3;

		modified |= entry_state(*cache_find(l3, line)) == CACHESIM_M;
		cache_drop(l3, line);
		drop_from_cpus(cs, h, cs->members[i], line);
		c->now->invalidations++;
	}
	h->hierarchies &= ~others;
	return modified;
}

/* All `others` learn that they are not alone; true when one of them had modified it. */
static bool bus_share(struct cachesim *cs, const struct line_holders *h, uint64_t others,
		      uint64_t line)
{
	unsigned int owner = __builtin_ctzll(others);
	enum cachesim_state was;
	uint64_t *entry;

	if (others & (others - 1))
		return false;	/* several holders: all are Shared already */
	entry = cache_find(&cs->agent[owner]->l3, line);
	was = entry_state(*entry);
	if (was == CACHESIM_S)
		return false;
	entry_set_state(entry, CACHESIM_S);
	share_in_cpus(cs, h, cs->members[owner], line);
	return was == CACHESIM_M;
}

/* A line goes over the bus, now that the miss has come that far. Returns how long it waits. */
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
		move_line(cs, c);	/* out of a buffer: the CPU waits for none of it */
	}
	drop_from_cpus(cs, h, cs->members[__builtin_ctzll(c->hierarchy_bit)],
		       entry_line(victim));
	h->hierarchies &= ~c->hierarchy_bit;
}

/* Has another node than `c`'s the memory of `line`? */
static bool is_remote(const struct cachesim *cs, const struct cpu *c, uint64_t line)
{
	unsigned int last = cs->cpu[cs->cpus - 1].cluster;
	uint64_t node;

	if (!cs->node_memory)
		return false;
	node = (line << c->l3.shift) / cs->node_memory;
	return c->cluster != (node < last ? node : last);
}

/* Bring `line`, which the L3 does not hold, in over the bus. Returns its state. */
static enum cachesim_state bus_read(struct cachesim *cs, struct cpu *c, struct line_holders *h,
				    uint64_t line, bool write)
{
	uint64_t others = h->hierarchies;
	enum cachesim_state state = write ? CACHESIM_M : others ? CACHESIM_S : CACHESIM_E;
	uint64_t victim;

	c->now->l3_misses++;
	c->now->bus_requests++;
	c->waited = move_line(cs, c);
	c->miss += c->waited;
	if (others && (write ? bus_invalidate(cs, c, h, others, line)
			     : bus_share(cs, h, others, line))) {
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
	return state;
}

/*
 * Has one of these CPUs the line Modified, so that the L3 asks it? If it has stored, it has the
 * newest data. But who reads what is Modified in the L3 alone gets it as Modified, too, and is
 * then asked for data that the L3 has.
 */
static bool modified_in(const struct cachesim *cs, uint64_t cpus, uint64_t line)
{
	const uint64_t *entry;

	if (!cpus || (cpus & (cpus - 1)))
		return false;	/* several holders: all are Shared */
	entry = cache_find(&cs->cpu[__builtin_ctzll(cpus)].l2, line);
	return entry_state(*entry) == CACHESIM_M;
}

/* The L2 asks the L3 for the line, or for permission to write it. Returns the state granted. */
static enum cachesim_state l3_access(struct cachesim *cs, struct cpu *c, uint64_t line,
				     bool write)
{
	struct line_holders *h = line_directory_at(&cs->directory, line);
	uint64_t *entry = cache_use(&c->l3, line);
	enum cachesim_state state;
	uint64_t siblings;

	c->now->l3_references++;
	c->miss += TIME(cs, latency.l3);
	if (!entry) {
		state = bus_read(cs, c, h, line, write);
		h->cpus |= c->cpu_bit;
		return state;
	}
	if (write) {
		if (entry_state(*entry) == CACHESIM_S) {
			c->now->bus_requests++;
			c->miss += TIME(cs, latency.upgrade);
			bus_invalidate(cs, c, h, h->hierarchies & ~c->hierarchy_bit, line);
		}
		entry_set_state(entry, CACHESIM_M);
	}
	state = entry_state(*entry);
	siblings = h->cpus & cs->members[__builtin_ctzll(c->hierarchy_bit)] & ~c->cpu_bit;
	if (modified_in(cs, siblings, line))
		c->miss += TIME(cs, latency.transfer);
	if (siblings && write) {
		drop_from_cpus(cs, h, siblings, line);
		c->now->invalidations += __builtin_popcountll(siblings);
	} else if (siblings) {
		share_in_cpus(cs, h, siblings, line);
		state = CACHESIM_S;
	}
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

static inline uint64_t physical(uint64_t address)
{
	return address & ((1ull << CACHESIM_PHYS_BITS) - 1);
}

void cachesim_execute(struct cachesim *cs, unsigned int cpu, enum cachesim_mode mode,
		      unsigned int instructions, const uint64_t *lines, unsigned int n)
{
	struct cpu *c = &cs->cpu[cpu];
	uint64_t time = (uint64_t)instructions * cs->cpi[mode];

	c->mode = mode;
	c->now = &c->counts[mode];
	c->now->instructions += instructions;
	c->now->cycles += time;
	*c->clock += time;
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

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static const char *check_level(const struct cachesim_level *l)
{
	if (!power_of_two(l->line) || !l->ways || !l->size)
		return "a level needs a size, ways, and a line that is a power of two";
	if (l->size % (l->ways * l->line) || !power_of_two(l->size / (l->ways * l->line)))
		return "a level's size / (ways * line) must be a power of two";
	return NULL;
}

static const char *check_machine(const struct cachesim_machine *m, unsigned int cpus)
{
	const struct cachesim_level *levels[] = { &m->l1i, &m->l1d, &m->l2, &m->l3 };

	if (!cpus || cpus > CACHESIM_MAX_CPUS)
		return "the model takes 1 to 64 CPUs";
	for (size_t i = 0; i < 4; i++) {
		const char *error = check_level(levels[i]);

		if (error)
			return error;
	}
	if (m->l2.line != m->l3.line || m->l1i.line > m->l2.line || m->l1d.line > m->l2.line)
		return "L2 and L3 lines must be equal, and L1 lines no longer";
	if (m->l1i.shared || m->l1d.shared || m->l2.shared)
		return "only the L3 can be shared";
	if (m->l2.write != CACHESIM_WRITE_BACK || m->l3.write != CACHESIM_WRITE_BACK)
		return "only the L1D can write through";
	if (!m->clusters == !m->cluster_cpus || m->clusters > CACHESIM_MAX_CPUS)
		return "either clusters must be 1 to 64, or cluster_cpus more than 0";
	if (!m->cpi || !m->mhz || !m->overlap)
		return "cpi, mhz and overlap must be more than 0";
	if (m->kernel_cpi < m->cpi)
		return "kernel_cpi must not be less than cpi";
	if (m->latency.remote_memory < m->latency.memory)
		return "latency.remote_memory must not be less than latency.memory";
	return NULL;
}

static size_t entries_of(const struct cachesim_level *l)
{
	return l->size / l->line;
}

static struct cache_array array_of(const struct cachesim_level *l, uint64_t **entries)
{
	struct cache_array a = {
		.entries = *entries,
		.set_mask = l->size / l->line / l->ways - 1,
		.ways = l->ways,
		.shift = __builtin_ctz(l->line),
		.lru = l->replacement == CACHESIM_LRU,
	};

	*entries += entries_of(l);
	return a;
}

/* The cluster of a CPU, of those that have CPUs. */
static unsigned int cluster_of(const struct cachesim_machine *m, unsigned int cpu,
			       unsigned int cpus)
{
	unsigned int clusters = m->clusters < cpus ? m->clusters : cpus;

	return m->clusters ? cpu * clusters / cpus : cpu / m->cluster_cpus;
}

static void build_cpus(struct cachesim *cs)
{
	const struct cachesim_machine *m = &cs->machine;
	uint64_t *entries = cs->entries;

	for (unsigned int i = 0; i < cs->cpus; i++) {
		unsigned int cluster = cluster_of(m, i, cs->cpus);
		unsigned int h = m->l3.shared ? cluster : i;
		struct cpu *c = &cs->cpu[i];

		c->cluster = cluster;
		c->mode = CACHESIM_KERNEL;
		c->now = &c->counts[c->mode];
		c->clock = &cs->clocks[i];
		if (cs->buses) {
			c->bus = &cs->buses[cluster];
			c->bus->slot = TIME(cs, bus);
		}
		c->l1i = array_of(&m->l1i, &entries);
		c->l1d = array_of(&m->l1d, &entries);
		c->l2 = array_of(&m->l2, &entries);
		if (cs->agent[h])
			c->l3 = cs->agent[h]->l3;
		else
			c->l3 = array_of(&m->l3, &entries);
		cs->agent[h] = c;
		cs->members[h] |= 1ull << i;
		c->cpu_bit = 1ull << i;
		c->hierarchy_bit = 1ull << h;
	}
}

struct cachesim *cachesim_new(const struct cachesim_machine *machine, unsigned int cpus,
			      const char **error)
{
	struct cachesim *cs;
	unsigned int l3s;
	size_t entries;

	*error = check_machine(machine, cpus);
	if (*error)
		return NULL;
	*error = "out of memory";
	cs = calloc(1, sizeof(*cs));
	if (!cs)
		return NULL;
	cs->machine = *machine;
	cs->cpus = cpus;
	l3s = machine->l3.shared ? cluster_of(machine, cpus - 1, cpus) + 1 : cpus;
	for (int mode = 0; mode < CACHESIM_MODES; mode++)
		cs->cpi[mode] = mode == CACHESIM_USER ? machine->cpi : machine->kernel_cpi;
	cs->write_through = machine->l1d.write == CACHESIM_WRITE_THROUGH;
	cs->fetches_per_line = __builtin_ctz(machine->l2.line / machine->l1i.line);
	cs->data_per_line = __builtin_ctz(machine->l2.line / machine->l1d.line);
	entries = cpus * (entries_of(&machine->l1i) + entries_of(&machine->l1d) +
			  entries_of(&machine->l2)) + l3s * entries_of(&machine->l3);
	cs->entries = calloc(entries, sizeof(*cs->entries));
	cs->cpu = calloc(cpus, sizeof(*cs->cpu));
	if (machine->bus)
		cs->buses = calloc(CACHESIM_MAX_CPUS, sizeof(*cs->buses));
	if (!cs->entries || !cs->cpu || (machine->bus && !cs->buses) ||
	    line_directory_init(&cs->directory, __builtin_ctz(machine->l2.line))) {
		cachesim_free(cs);
		return NULL;
	}
	build_cpus(cs);
	*error = NULL;
	return cs;
}

const char *cachesim_set_node_memory(struct cachesim *cs, uint64_t bytes)
{
	if (!cs->cpu[cs->cpus - 1].cluster)
		return "a second NUMA node needs a second cluster that has CPUs";
	cs->node_memory = bytes;
	return NULL;
}

void cachesim_free(struct cachesim *cs)
{
	if (!cs)
		return;
	line_directory_free(&cs->directory);
	free(cs->entries);
	free(cs->cpu);
	free(cs->buses);
	free(cs);
}

void cachesim_zero_counts(struct cachesim *cs)
{
	for (unsigned int i = 0; i < cs->cpus; i++)
		memset(cs->cpu[i].counts, 0, sizeof(cs->cpu[i].counts));
}

uint64_t *cachesim_clocks(struct cachesim *cs)
{
	return cs->clocks;
}

unsigned int cachesim_fetch_shift(const struct cachesim *cs)
{
	return cs->cpu[0].l1i.shift;
}

unsigned int cachesim_cpus(const struct cachesim *cs)
{
	return cs->cpus;
}

const struct cachesim_machine *cachesim_machine(const struct cachesim *cs)
{
	return &cs->machine;
}

bool cachesim_has_nodes(const struct cachesim *cs)
{
	return cs->node_memory;
}

const struct cachesim_counts *cachesim_counts(const struct cachesim *cs, unsigned int cpu,
					      enum cachesim_mode mode)
{
	return &cs->cpu[cpu].counts[mode];
}

void cachesim_add(struct cachesim_counts *sum, const struct cachesim_counts *counts)
{
	sum->instructions += counts->instructions;
	sum->l1i_references += counts->l1i_references;
	sum->l1i_misses += counts->l1i_misses;
	sum->l1d_references += counts->l1d_references;
	sum->l1d_misses += counts->l1d_misses;
	sum->l2_references += counts->l2_references;
	sum->l2_misses += counts->l2_misses;
	sum->l3_references += counts->l3_references;
	sum->l3_misses += counts->l3_misses;
	sum->bus_requests += counts->bus_requests;
	sum->cache_to_cache += counts->cache_to_cache;
	sum->remote_memory += counts->remote_memory;
	sum->invalidations += counts->invalidations;
	sum->writebacks += counts->writebacks;
	sum->cycles += counts->cycles;
	sum->stall_cycles += counts->stall_cycles;
	sum->bus_wait_cycles += counts->bus_wait_cycles;
}

enum cachesim_state cachesim_state(const struct cachesim *cs, unsigned int cpu,
				   enum cachesim_where where, uint64_t phys)
{
	const struct cpu *c = &cs->cpu[cpu];
	const struct cache_array *arrays[] = {
		[CACHESIM_L1I] = &c->l1i, [CACHESIM_L1D] = &c->l1d,
		[CACHESIM_L2] = &c->l2, [CACHESIM_L3] = &c->l3,
	};
	const struct cache_array *a = arrays[where];
	const uint64_t *entry = cache_find(a, physical(phys) >> a->shift);

	return entry ? entry_state(*entry) : CACHESIM_I;
}
