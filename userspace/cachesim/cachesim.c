// SPDX-License-Identifier: GPL-2.0
/* A model is checked, built, and asked what it has counted. */
#include "cachesim.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy.h"

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

/* The cluster of a CPU, numbered among the clusters that have CPUs. */
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

void cachesim_add(struct cachesim_counts *sum, const struct cachesim_counts *counts,
		  const struct cachesim_counts *before)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *now = (const uint64_t *)counts, *then = (const uint64_t *)before;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += now[i] - then[i];
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
