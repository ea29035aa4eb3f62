// SPDX-License-Identifier: GPL-2.0
/*
 * Private hierarchies on the bus: every MESI transition of CPU 0's copy of a
 * line, by its own accesses and by accesses of CPU 1, with the bus traffic.
 */
#include "test_machine.h"

#include <stdlib.h>

#define LINE 0x1000

/* Bring CPU 0's copy into a state; CPU 1 ends up with nothing unless it is S. */
static struct cachesim *in_state(const struct cachesim_machine *m, enum cachesim_state s)
{
	struct cachesim *cs = model(m, 3);

	if (s == CACHESIM_M)
		cachesim_store(cs, 0, LINE, 8);
	else if (s != CACHESIM_I)
		cachesim_load(cs, 0, LINE, 8);
	if (s == CACHESIM_S)
		cachesim_load(cs, 2, LINE, 8);
	assert_int_equal(cachesim_state(cs, 0, CACHESIM_L3, LINE), s);
	cachesim_zero_counts(cs);
	return cs;
}

struct transition {
	enum cachesim_state from;
	unsigned int cpu;	/* of the access: 0 the owner of the copy, 1 another */
	bool store;
	enum cachesim_state to0, to1;
	unsigned int l3_misses, bus_requests, cache_to_cache, invalidations;
};

static const struct transition transitions[] = {
	/* its own accesses */
	{ CACHESIM_I, 0, false, CACHESIM_E, CACHESIM_I, 1, 1, 0, 0 },
	{ CACHESIM_I, 0, true, CACHESIM_M, CACHESIM_I, 1, 1, 0, 0 },
	{ CACHESIM_S, 0, false, CACHESIM_S, CACHESIM_I, 0, 0, 0, 0 },
	{ CACHESIM_S, 0, true, CACHESIM_M, CACHESIM_I, 0, 1, 0, 1 },	/* upgrade */
	{ CACHESIM_E, 0, false, CACHESIM_E, CACHESIM_I, 0, 0, 0, 0 },
	{ CACHESIM_E, 0, true, CACHESIM_M, CACHESIM_I, 0, 0, 0, 0 },	/* silent */
	{ CACHESIM_M, 0, false, CACHESIM_M, CACHESIM_I, 0, 0, 0, 0 },
	{ CACHESIM_M, 0, true, CACHESIM_M, CACHESIM_I, 0, 0, 0, 0 },
	/* snooped */
	{ CACHESIM_I, 1, false, CACHESIM_I, CACHESIM_E, 1, 1, 0, 0 },
	{ CACHESIM_I, 1, true, CACHESIM_I, CACHESIM_M, 1, 1, 0, 0 },
	{ CACHESIM_S, 1, false, CACHESIM_S, CACHESIM_S, 1, 1, 0, 0 },
	{ CACHESIM_S, 1, true, CACHESIM_I, CACHESIM_M, 1, 1, 0, 2 },	/* CPUs 0 and 2 */
	{ CACHESIM_E, 1, false, CACHESIM_S, CACHESIM_S, 1, 1, 0, 0 },
	{ CACHESIM_E, 1, true, CACHESIM_I, CACHESIM_M, 1, 1, 0, 1 },
	{ CACHESIM_M, 1, false, CACHESIM_S, CACHESIM_S, 1, 1, 1, 0 },
	{ CACHESIM_M, 1, true, CACHESIM_I, CACHESIM_M, 1, 1, 1, 1 },
};

/* Where loads take lines. What CPU 1 has taken is newer than memory, and not written there. */
MODEL_TEST(a_load_takes_what_another_has_written)
{
	struct cachesim_machine m = tiny;

	m.migratory = true;
	cs = model(&m, 3);
	cachesim_store(cs, 0, LINE, 8);
	cachesim_load(cs, 1, LINE, 8);
	assert_state(cs, 0, L3, LINE, I);
	assert_state(cs, 1, L3, LINE, M);
	assert_state(cs, 1, L2, LINE, E);
	assert_count(cs, 1, cache_to_cache, 1);
	assert_count(cs, 1, invalidations, 1);
	cachesim_load(cs, 2, LINE, 8);		/* CPU 1 has only read it */
	assert_state(cs, 1, L2, LINE, S);
	assert_state(cs, 2, L2, LINE, S);
	assert_count(cs, 2, cache_to_cache, 1);
	assert_count(cs, 2, invalidations, 0);
}

static void check_transitions(const struct cachesim_machine *m)
{
	for (size_t i = 0; i < COUNT_OF(transitions); i++) {
		const struct transition *t = &transitions[i];
		struct cachesim *cs = in_state(m, t->from);

		if (t->store)
			cachesim_store(cs, t->cpu, LINE, 8);
		else
			cachesim_load(cs, t->cpu, LINE, 8);
		assert_int_equal(cachesim_state(cs, 0, CACHESIM_L3, LINE), t->to0);
		assert_int_equal(cachesim_state(cs, 0, CACHESIM_L2, LINE), t->to0);
		assert_int_equal(cachesim_state(cs, 1, CACHESIM_L3, LINE), t->to1);
		assert_int_equal(cachesim_state(cs, 1, CACHESIM_L2, LINE), t->to1);
		assert_count(cs, t->cpu, l3_misses, t->l3_misses);
		assert_count(cs, t->cpu, bus_requests, t->bus_requests);
		assert_count(cs, t->cpu, cache_to_cache, t->cache_to_cache);
		assert_count(cs, t->cpu, invalidations, t->invalidations);
		assert_count(cs, t->cpu, writebacks, 0);
		assert_count(cs, !t->cpu, bus_requests, 0);
		cachesim_free(cs);
	}
}

TEST(every_transition_with_a_write_through_l1d)
{
	check_transitions(&tiny);
}

TEST(every_transition_with_a_write_back_l1d)
{
	struct cachesim_machine back = tiny;

	back.l1d.write = CACHESIM_WRITE_BACK;
	check_transitions(&back);
}

MODEL_TEST(a_snoop_reaches_both_l1s_and_both_halves)
{
	struct cachesim_machine back = tiny;
	uint64_t line = (LINE + 64) >> 6;

	back.l1d.write = CACHESIM_WRITE_BACK;
	cs = model(&back, 2);
	cachesim_store(cs, 0, LINE, 8);
	cachesim_store(cs, 0, LINE + 64, 8);
	cachesim_execute(cs, 0, CACHESIM_KERNEL, 1, &line, 1);
	cachesim_load(cs, 1, LINE, 8);
	assert_state(cs, 0, L1D, LINE, S);
	assert_state(cs, 0, L1D, LINE + 64, S);
	assert_state(cs, 0, L1I, LINE + 64, S);
	cachesim_store(cs, 1, LINE, 8);
	assert_state(cs, 0, L1D, LINE, I);
	assert_state(cs, 0, L1D, LINE + 64, I);
	assert_state(cs, 0, L1I, LINE + 64, I);
}

MODEL_TEST(an_upgrade_is_an_l3_reference_that_hits)
{
	cs = in_state(&tiny, CACHESIM_S);
	cachesim_store(cs, 0, LINE, 8);
	assert_count(cs, 0, l2_references, 1);
	assert_count(cs, 0, l2_misses, 0);
	assert_count(cs, 0, l3_references, 1);
	assert_count(cs, 0, l3_misses, 0);
}

MODEL_TEST(a_shared_copy_left_alone_still_upgrades_over_the_bus)
{
	cs = in_state(&tiny, CACHESIM_S);
	for (uint64_t a = 1; a <= 8; a++)	/* CPU 2 evicts its copy without a word */
		cachesim_load(cs, 2, LINE + a * 256, 8);
	assert_state(cs, 2, L3, LINE, I);
	cachesim_store(cs, 0, LINE, 8);
	assert_count(cs, 0, bus_requests, 1);
	assert_count(cs, 0, invalidations, 0);
}

MODEL_TEST(false_sharing_is_per_bus_line)
{
	cs = model(&tiny, 2);
	for (int i = 0; i < 10; i++) {
		cachesim_store(cs, 0, LINE, 8);
		cachesim_store(cs, 1, LINE + 64, 8);
	}
	assert_count(cs, 0, cache_to_cache, 9);
	assert_count(cs, 1, cache_to_cache, 10);
	assert_count(cs, 0, bus_requests, 10);
}

MODEL_TEST(sixty_four_cpus_share_one_bus)
{
	const struct cachesim_machine rx4640 = preset("rx4640");

	cs = model(&rx4640, 64);
	for (unsigned int cpu = 0; cpu < 64; cpu++)
		cachesim_load(cs, cpu, LINE, 8);
	cachesim_store(cs, 63, LINE, 8);
	assert_count(cs, 63, invalidations, 63);
	for (unsigned int cpu = 0; cpu < 63; cpu++)
		assert_state(cs, cpu, L3, LINE, I);
	assert_state(cs, 63, L3, LINE, M);
}

/* Copies of one L2 line: either one E or M and nothing else, or any number of S. */
static void check_one_writer(struct cachesim *cs, unsigned int cpus, uint64_t phys)
{
	unsigned int owners = 0, copies = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		enum cachesim_state l2 = cachesim_state(cs, cpu, CACHESIM_L2, phys);
		enum cachesim_state l3 = cachesim_state(cs, cpu, CACHESIM_L3, phys);

		copies += l2 != CACHESIM_I;
		owners += l2 >= CACHESIM_E;
		assert_true(l2 <= l3);		/* inclusion, and no right the bus did not give */
		if (cachesim_state(cs, cpu, CACHESIM_L1D, phys) != CACHESIM_I)
			assert_true(l2 != CACHESIM_I);
		if (cachesim_state(cs, cpu, CACHESIM_L1I, phys) != CACHESIM_I)
			assert_true(l2 != CACHESIM_I);
	}
	assert_true(!owners || copies == 1);
}

static void random_traffic(const struct cachesim_machine *m)
{
	struct cachesim *cs = model(m, 4);
	unsigned int seed = 1;

	for (int i = 0; i < 200000; i++) {
		unsigned int cpu = rand_r(&seed) % 4;
		uint64_t phys = rand_r(&seed) % 64 * 64;
		uint64_t line = phys >> 6;

		switch (rand_r(&seed) % 4) {
		case 0:
			cachesim_store(cs, cpu, phys, 8);
			break;
		case 1:
			cachesim_execute(cs, cpu, CACHESIM_KERNEL, 1, &line, 1);
			break;
		default:
			cachesim_load(cs, cpu, phys, 8);
		}
		check_one_writer(cs, 4, phys);
	}
	cachesim_free(cs);
}

TEST(random_traffic_keeps_the_invariants)
{
	struct cachesim_machine m = tiny;

	random_traffic(&m);
	m.l1d.write = CACHESIM_WRITE_BACK;
	random_traffic(&m);
	m.migratory = true;
	random_traffic(&m);
	m.l3.shared = true;
	m.clusters = 2;
	random_traffic(&m);
	m.migratory = false;
	random_traffic(&m);
}

RUN_TESTS(NULL, NULL)
