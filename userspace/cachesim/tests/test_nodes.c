// SPDX-License-Identifier: GPL-2.0
/* NUMA nodes: whose memory a line is in, and what it costs to ask another node for it. */
#include "test_machine.h"

#define NODE 0x10000	/* bytes of a node's memory */
#define LOCAL CYCLES(1 + 10 + 100)
#define REMOTE CYCLES(1 + 10 + 100000)

/* CPUs 0 and 1 are one node, 2 and 3 the other; the L1D writes back. */
static struct cachesim *two_clusters(void)
{
	struct cachesim_machine m = tiny;

	m.l1d.write = CACHESIM_WRITE_BACK;
	m.l3.shared = true;
	m.clusters = 2;
	return model(&m, 4);
}

static struct cachesim *two_nodes(void)
{
	struct cachesim *cs = two_clusters();

	assert_null(cachesim_set_node_memory(cs, NODE));
	return cs;
}

/* A load that no cache answers. */
static void assert_load(struct cachesim *cs, unsigned int cpu, uint64_t phys, bool remote)
{
	uint64_t count = kernel_counts(cs, cpu)->remote_memory;

	cachesim_load(cs, cpu, phys, 8);
	assert_int_equal(time_of(cs, cpu), remote ? REMOTE : LOCAL);
	assert_count(cs, cpu, remote_memory, count + remote);
}

MODEL_TEST(memory_is_the_nodes_in_the_order_of_addresses)
{
	cs = two_nodes();
	assert_load(cs, 0, 0, false);
	assert_load(cs, 1, NODE - 64, false);
	assert_load(cs, 1, NODE, true);
	assert_load(cs, 0, 2 * NODE - 64, true);
	assert_load(cs, 2, 0x100, true);
	assert_load(cs, 3, NODE - 256, true);
	assert_load(cs, 3, NODE + 256, false);
	assert_count(cs, 3, l3_misses, 2);
	assert_count(cs, 3, bus_requests, 2);
}

MODEL_TEST(what_lies_beyond_is_the_last_nodes)
{
	cs = two_nodes();
	assert_load(cs, 0, 2 * NODE, true);
	assert_load(cs, 2, 2 * NODE + 256, false);
	assert_load(cs, 0, 0xfec00000, true);
	assert_load(cs, 2, 0xfffffff80, false);
}

MODEL_TEST(stores_and_fetches_go_there_too)
{
	const uint64_t code = (NODE + 0x1000) / 64;

	cs = two_nodes();
	cachesim_store(cs, 0, NODE, 8);
	assert_int_equal(time_of(cs, 0), REMOTE);
	cachesim_store(cs, 2, NODE + 256, 8);
	assert_int_equal(time_of(cs, 2), LOCAL);
	cachesim_execute(cs, 0, CACHESIM_USER, 0, &code, 1);
	assert_int_equal(time_of(cs, 0), REMOTE);
	assert_int_equal(cachesim_counts(cs, 0, CACHESIM_USER)->remote_memory, 1);
	assert_int_equal(cachesim_counts(cs, 0, CACHESIM_USER)->stall_cycles, REMOTE);
	assert_count(cs, 0, remote_memory, 1);
	assert_count(cs, 2, remote_memory, 0);
	cachesim_zero_counts(cs);
	assert_count(cs, 0, remote_memory, 0);
}

MODEL_TEST(without_nodes_all_memory_is_near)
{
	cs = two_clusters();
	assert_false(cachesim_has_nodes(cs));
	assert_load(cs, 0, NODE, false);
	assert_load(cs, 2, 0, false);
}

MODEL_TEST(what_a_cache_answers_is_no_memory)
{
	cs = two_nodes();
	cachesim_store(cs, 2, NODE, 8);
	cachesim_load(cs, 0, NODE, 8);	/* Modified in the other node's L3 */
	assert_int_equal(time_of(cs, 0), CYCLES(1 + 10 + 1000));
	assert_count(cs, 0, cache_to_cache, 1);
	cachesim_load(cs, 1, NODE, 8);	/* in the L3 of its own */
	assert_int_equal(time_of(cs, 1), CYCLES(1 + 10));
	cachesim_store(cs, 0, NODE, 8);	/* an upgrade moves no data */
	assert_int_equal(time_of(cs, 0), CYCLES(10 + 10000));
	assert_count(cs, 0, remote_memory, 0);
	assert_count(cs, 1, remote_memory, 0);
	/* What the other node has is clean: memory answers, which is that node's. */
	cachesim_load(cs, 2, NODE + 256, 8);
	assert_load(cs, 0, NODE + 256, true);
}

MODEL_TEST(a_write_back_takes_no_time_and_the_next_read_does)
{
	cs = two_nodes();
	cachesim_store(cs, 0, NODE, 8);
	for (unsigned int way = 1; way <= 8; way++)
		cachesim_load(cs, 0, 256 * way, 8);	/* near, and out goes what is far */
	assert_int_equal(time_of(cs, 0), REMOTE + 8 * LOCAL);
	assert_count(cs, 0, writebacks, 1);
	assert_count(cs, 0, remote_memory, 1);
	assert_state(cs, 0, L3, NODE, I);
	assert_load(cs, 0, NODE, true);
}

TEST(a_node_has_cpus)
{
	struct cachesim_machine m = tiny;
	struct cachesim *cs;

	m.clusters = 8;
	cs = model(&m, 3);
	assert_null(cachesim_set_node_memory(cs, NODE));
	assert_true(cachesim_has_nodes(cs));
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		for (unsigned int node = 0; node < 3; node++)
			assert_load(cs, cpu, NODE * node + 256 * cpu, cpu != node);
	cachesim_free(cs);
	cs = model(&m, 1);
	assert_string_equal(cachesim_set_node_memory(cs, NODE),
			    "a second NUMA node needs a second cluster that has CPUs");
	assert_false(cachesim_has_nodes(cs));
	assert_load(cs, 0, NODE, false);
	cachesim_free(cs);
}

MODEL_TEST(nodes_need_not_be_powers_of_two)
{
	cs = two_clusters();
	assert_null(cachesim_set_node_memory(cs, 3 * 4096));
	assert_load(cs, 0, 3 * 4096 - 128, false);
	assert_load(cs, 0, 3 * 4096, true);
}

RUN_TESTS(NULL, NULL)
