// SPDX-License-Identifier: GPL-2.0
/* An L3 shared by the CPUs of a cluster, and two clusters on the bus. */
#include "test_machine.h"

#define LINE 0x1000

/* CPUs 0 and 1 form one cluster, 2 and 3 the other; the L1D writes back. */
static struct cachesim *two_sockets(void)
{
	struct cachesim_machine m = tiny;

	m.l1d.write = CACHESIM_WRITE_BACK;
	m.l3.shared = true;
	m.clusters = 2;
	m.latency.transfer = 30;
	return model(&m, 4);
}

MODEL_TEST(siblings_meet_in_the_l3_without_the_bus)
{
	cs = two_sockets();
	cachesim_load(cs, 0, LINE, 8);
	assert_state(cs, 0, L2, LINE, E);
	cachesim_load(cs, 1, LINE, 8);
	assert_state(cs, 0, L2, LINE, S);
	assert_state(cs, 0, L1D, LINE, S);
	assert_state(cs, 1, L2, LINE, S);
	assert_state(cs, 1, L3, LINE, E);	/* the cluster is alone */
	assert_count(cs, 1, l3_references, 1);
	assert_count(cs, 1, l3_misses, 0);
	assert_count(cs, 1, bus_requests, 0);
}

MODEL_TEST(a_sibling_is_invalidated_without_the_bus)
{
	cs = two_sockets();
	cachesim_load(cs, 0, LINE, 8);
	cachesim_load(cs, 1, LINE, 8);
	cachesim_zero_counts(cs);
	cachesim_store(cs, 1, LINE, 8);
	assert_state(cs, 0, L2, LINE, I);
	assert_state(cs, 0, L1D, LINE, I);
	assert_state(cs, 1, L1D, LINE, M);
	assert_state(cs, 1, L3, LINE, M);
	assert_count(cs, 1, invalidations, 1);
	assert_count(cs, 1, l3_references, 1);
	assert_count(cs, 1, bus_requests, 0);
	cachesim_load(cs, 0, LINE, 8);	/* from the sibling, through the L3 */
	assert_state(cs, 1, L1D, LINE, S);
	assert_state(cs, 0, L3, LINE, M);	/* memory is still old */
	assert_count(cs, 0, l3_misses, 0);
	assert_count(cs, 0, cache_to_cache, 0);
}

MODEL_TEST(only_what_a_sibling_has_modified_is_asked_of_it)
{
	cs = two_sockets();
	cachesim_load(cs, 0, LINE, 8);
	cachesim_load(cs, 1, LINE, 8);		/* Exclusive there */
	assert_int_equal(time_of(cs, 1), CYCLES(1 + 10));
	cachesim_store(cs, 1, LINE, 8);		/* Shared */
	assert_int_equal(time_of(cs, 1), CYCLES(10));
	cachesim_load(cs, 0, LINE, 8);		/* Modified */
	assert_int_equal(time_of(cs, 0), CYCLES(1 + 10 + 100 + 1 + 10 + 30));
	cachesim_load(cs, 1, LINE, 8);
	cachesim_store(cs, 0, LINE, 8);
	cachesim_store(cs, 1, LINE, 8);		/* for a store, too */
	assert_int_equal(time_of(cs, 1), CYCLES(1 + 10 + 30));
	time_of(cs, 0);
	for (unsigned int way = 1; way <= 4; way++)
		cachesim_load(cs, 1, LINE + 256 * way, 8);
	cachesim_load(cs, 0, LINE, 8);		/* Modified, but in the L3 alone */
	assert_int_equal(time_of(cs, 0), CYCLES(1 + 10));
}

/* As two_sockets(), where loads take lines. */
static struct cachesim *migratory_sockets(void)
{
	struct cachesim_machine m = tiny;

	m.l1d.write = CACHESIM_WRITE_BACK;
	m.l3.shared = true;
	m.clusters = 2;
	m.latency.transfer = 30;
	m.migratory = true;
	return model(&m, 4);
}

MODEL_TEST(a_load_takes_what_a_sibling_has_written)
{
	cs = migratory_sockets();
	cachesim_store(cs, 0, LINE, 8);
	cachesim_load(cs, 1, LINE, 8);
	assert_state(cs, 0, L1D, LINE, I);
	assert_state(cs, 1, L1D, LINE, E);
	assert_state(cs, 1, L3, LINE, M);
	assert_int_equal(time_of(cs, 1), CYCLES(1 + 10 + 30));
	cachesim_store(cs, 1, LINE, 8);		/* it has the right to */
	assert_int_equal(time_of(cs, 1), 0);
	cachesim_load(cs, 0, LINE, 8);		/* so it goes back */
	assert_state(cs, 1, L2, LINE, I);
	time_of(cs, 0);
	cachesim_load(cs, 1, LINE, 8);		/* not written there: both may read */
	assert_int_equal(time_of(cs, 1), CYCLES(1 + 10 + 30));
	assert_state(cs, 0, L1D, LINE, S);
	assert_state(cs, 1, L1D, LINE, S);
	cachesim_load(cs, 0, LINE, 8);
	assert_int_equal(time_of(cs, 0), 0);
	assert_count(cs, 0, bus_requests, 1);
	assert_count(cs, 1, bus_requests, 0);
}

MODEL_TEST(what_is_only_read_is_not_taken)
{
	cs = migratory_sockets();
	cachesim_store(cs, 0, LINE, 8);
	for (uint64_t way = 1; way <= 4; way++)		/* out of the L2 */
		cachesim_load(cs, 0, LINE + 256 * way, 8);
	cachesim_load(cs, 0, LINE, 8);
	assert_state(cs, 0, L2, LINE, E);
	assert_state(cs, 0, L3, LINE, M);
	cachesim_load(cs, 1, LINE, 8);
	assert_state(cs, 0, L2, LINE, S);
}

MODEL_TEST(the_bus_carries_what_crosses_sockets)
{
	cs = two_sockets();
	cachesim_store(cs, 0, LINE, 8);
	cachesim_load(cs, 1, LINE, 8);
	cachesim_load(cs, 2, LINE, 8);
	assert_count(cs, 2, cache_to_cache, 1);
	assert_count(cs, 2, bus_requests, 1);
	assert_state(cs, 0, L3, LINE, S);
	assert_state(cs, 2, L2, LINE, S);
	cachesim_store(cs, 3, LINE, 8);	/* upgrade: one other L3, one sibling */
	assert_count(cs, 3, l3_misses, 0);
	assert_count(cs, 3, bus_requests, 1);
	assert_count(cs, 3, invalidations, 2);
	assert_state(cs, 0, L2, LINE, I);
	assert_state(cs, 1, L2, LINE, I);
	assert_state(cs, 2, L2, LINE, I);
	assert_state(cs, 0, L3, LINE, I);
}

MODEL_TEST(a_shared_l3_evicts_from_all_siblings)
{
	cs = two_sockets();
	cachesim_load(cs, 0, LINE, 8);
	for (uint64_t a = 1; a <= 8; a++)
		cachesim_load(cs, 1, LINE + a * 256, 8);
	assert_state(cs, 0, L3, LINE, I);
	assert_state(cs, 0, L2, LINE, I);
	assert_state(cs, 0, L1D, LINE, I);
}

MODEL_TEST(the_l3_knows_when_a_sibling_has_evicted_its_copy)
{
	cs = two_sockets();
	cachesim_load(cs, 0, LINE, 8);
	for (uint64_t a = 1; a <= 4; a++)	/* out of CPU 0's L2, not of the L3 */
		cachesim_load(cs, 0, LINE + a * 256, 8);
	cachesim_load(cs, 1, LINE, 8);
	assert_count(cs, 1, l3_misses, 0);
	assert_state(cs, 1, L2, LINE, E);
	cachesim_store(cs, 1, LINE, 8);
	assert_count(cs, 1, invalidations, 0);
}

MODEL_TEST(cpus_are_split_evenly_in_order)
{
	const struct cachesim_machine xeon = preset("xeon-2s");
	unsigned int with_cpu0 = 0;

	cs = model(&xeon, 7);
	cachesim_load(cs, 0, LINE, 8);
	for (unsigned int cpu = 0; cpu < 7; cpu++)
		with_cpu0 += cachesim_state(cs, cpu, CACHESIM_L3, LINE) == CACHESIM_E;
	assert_int_equal(with_cpu0, 4);
	assert_state(cs, 3, L3, LINE, E);
	assert_state(cs, 4, L3, LINE, I);
}

MODEL_TEST(an_l3_for_each_so_many_cpus)
{
	struct cachesim_machine m = tiny;

	m.l3.shared = true;
	m.clusters = 0;
	m.cluster_cpus = 3;
	cs = model(&m, 7);
	for (unsigned int cpu = 0; cpu < 7; cpu += 3)
		cachesim_load(cs, cpu, LINE + 256 * cpu, 8);
	for (unsigned int cpu = 0; cpu < 7; cpu++)
		for (unsigned int other = 0; other < 7; other += 3)
			assert_int_equal(cachesim_state(cs, cpu, CACHESIM_L3, LINE + 256 * other),
					 cpu / 3 == other / 3 ? CACHESIM_E : CACHESIM_I);
	cachesim_free(model(&m, 1));
}

RUN_TESTS(NULL, NULL)
