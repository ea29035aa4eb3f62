// SPDX-License-Identifier: LGPL-2.1-or-later
/* Places: grouping, hierarchy, given lists, workers, CPUs, memory. */
#include "test_place.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "intervals.h"
#include "test_allocation.h"

/* Set to see memory bound on a machine with one node: node 0 is then one of two. */
static bool pretend_nodes;

unsigned int __wrap_ivl_node_count(void);
unsigned int __wrap_ivl_node_count(void)
{
	return pretend_nodes ? 2 : 1;
}

/* The cgroup's limit. */
static unsigned int quota;

unsigned int __wrap_ivl_cgroup_cpus(const char *root);
unsigned int __wrap_ivl_cgroup_cpus(const char *root)
{
	assert_string_equal(root, "");
	return quota;
}

static void assert_place(const struct ivl_place *place, const char *name, int node,
			 const char *outer, unsigned int first, unsigned int workers)
{
	assert_string_equal(ivl_place_name(place), name);
	assert_int_equal(ivl_place_node(place), node);
	if (outer)
		assert_string_equal(ivl_place_name(ivl_place_outer(place)), outer);
	else
		assert_null(ivl_place_outer(place));
	assert_int_equal(place->first_worker, first);
	assert_int_equal(place->worker_count, workers);
}

static void assert_cpus(const struct ivl_place *place, const char *expected)
{
	char text[200] = "";

	for (unsigned int i = 0; i < place->cpu_count; i++)
		sprintf(text + strlen(text), "%s%d", i ? " " : "", place->cpus[i]);
	assert_string_equal(text, expected);
}

TEST(one)
{
	TEST_TOPOLOGY(t, "package:2 l3:2 core:2 pu:1", IVL_PLACES_ONE, 0);

	assert_int_equal(t->leaf_count, 1);
	assert_int_equal(t->inner_count, 0);
	assert_int_equal(t->workers, 8);
	assert_place(&t->leaves[0], "machine", 0, NULL, 0, 8);
	assert_int_equal(ivl_place_index(&t->leaves[0]), 0);
}

TEST(numa)
{
	TEST_TOPOLOGY(t, "node:2 core:4 pu:1", IVL_PLACES_NUMA, 0);

	assert_int_equal(t->leaf_count, 2);
	assert_int_equal(t->inner_count, 1);
	assert_place(&t->inner[0], "machine", -1, NULL, 0, 8);
	assert_int_equal(ivl_place_index(&t->inner[0]), ~0u);
	assert_place(&t->leaves[0], "numa-0", 0, "machine", 0, 4);
	assert_place(&t->leaves[1], "numa-1", 1, "machine", 4, 4);
	assert_cpus(&t->leaves[1], "4 5 6 7");
	assert_int_equal(ivl_place_index(&t->leaves[1]), 1);
	assert_ptr_equal(ivl_topology_place(t, 3), &t->leaves[0]);
	assert_ptr_equal(ivl_topology_place(t, 4), &t->leaves[1]);
}

/* Nodes inside packages, caches inside nodes; equal levels appear once. */
TEST(hierarchy)
{
	TEST_TOPOLOGY(t, "package:2 node:2 l3:2 core:2 pu:1", IVL_PLACES_LLC, 0);
	const struct ivl_place *l = t->leaves;

	assert_int_equal(t->leaf_count, 8);
	assert_int_equal(t->inner_count, 7);
	assert_place(&t->inner[0], "machine", -1, NULL, 0, 16);
	assert_place(&t->inner[1], "package-0", -1, "machine", 0, 8);
	assert_place(&t->inner[2], "package-1", -1, "machine", 8, 8);
	assert_place(&t->inner[3], "numa-0", 0, "package-0", 0, 4);
	assert_place(&t->inner[6], "numa-3", 3, "package-1", 12, 4);
	assert_place(&l[7], "llc-7", 3, "numa-3", 14, 2);
	assert_int_equal(l[7].levels, 4);
	assert_int_equal(t->inner[0].levels, 1);
	for (unsigned int i = 0; i < 15; i++)
		assert_int_equal(l[i].number, i);
	assert_ptr_equal(&l[14], &t->inner[6]);
	assert_true(ivl_topology_has(t, &l[14]));
	assert_false(ivl_topology_has(t, &l[15]));
	assert_false(ivl_topology_has(t, NULL));
	assert_cpus(&t->inner[2], "8 9 10 11 12 13 14 15");

	assert_int_equal(ivl_topology_distance(&l[0], &l[0]), 0);
	assert_int_equal(ivl_topology_distance(&l[0], &l[1]), 1);
	assert_int_equal(ivl_topology_distance(&l[0], &l[2]), 2);
	assert_int_equal(ivl_topology_distance(&l[0], &l[4]), 3);
	assert_int_equal(ivl_topology_distance(&l[7], &l[0]), 3);

	/* A cache per node: one place, not one in the other. */
	TEST_TOPOLOGY(equal, "package:2 node:2 l3:1 core:2 pu:1", IVL_PLACES_LLC, 0);
	assert_int_equal(equal->inner_count, 3);
	assert_place(&equal->leaves[3], "llc-3", 3, "package-1", 6, 2);
}

/* Nodes around packages: levels are ordered by size, not by kind. */
TEST(order)
{
	TEST_TOPOLOGY(t, "node:2 package:2 l3:2 core:1 pu:1", IVL_PLACES_LLC, 0);

	assert_int_equal(t->inner_count, 7);
	for (unsigned int i = 1; i < 7; i++)
		assert_true(t->inner[i].cpu_count <= t->inner[i - 1].cpu_count);
	assert_place(&t->inner[1], "numa-0", 0, "machine", 0, 4);
	assert_place(&t->inner[3], "package-0", 0, "numa-0", 0, 2);
	assert_place(&t->leaves[7], "llc-7", 1, "package-3", 7, 1);
}

/* A machine without known caches, as some virtual machines are. */
TEST(no_cache)
{
	TEST_TOPOLOGY(t, "package:2 core:2 pu:1", IVL_PLACES_LLC, 0);

	assert_int_equal(t->leaf_count, 2);
	assert_cpus(&t->leaves[1], "2 3");
}

/* The first hardware threads of all cores come before the second ones. */
TEST(hardware_threads)
{
	TEST_TOPOLOGY(t, "package:2 core:2 pu:2", IVL_PLACES_PACKAGE, 0);

	assert_cpus(&t->leaves[0], "0 2 1 3");
	assert_cpus(&t->leaves[1], "4 6 5 7");
}

static unsigned int workers_at(const struct ivl_topology *t, unsigned int leaf)
{
	return t->leaves[leaf].worker_count;
}

TEST(workers)
{
	TEST_TOPOLOGY(many, "node:2 core:4 pu:1", IVL_PLACES_NUMA, 24);
	TEST_TOPOLOGY(five, "node:4 core:2 pu:1", IVL_PLACES_NUMA, 5);
	TEST_TOPOLOGY(three, "node:4 core:2 pu:1", IVL_PLACES_NUMA, 3);
	TEST_TOPOLOGY(one, "node:4 core:2 pu:1", IVL_PLACES_NUMA, 1);

	/* More workers than CPUs. */
	assert_int_equal(many->workers, 24);
	assert_int_equal(workers_at(many, 0), 12);
	assert_int_equal(workers_at(many, 1), 12);
	assert_ptr_equal(ivl_topology_place(many, 23), &many->leaves[1]);

	assert_int_equal(workers_at(five, 0), 2);
	assert_int_equal(workers_at(five, 3), 1);

	/* No place is without a worker. */
	assert_int_equal(three->leaf_count, 3);
	assert_int_equal(three->inner[0].cpu_count, 6);
	assert_int_equal(one->leaf_count, 1);
	assert_place(&one->leaves[0], "numa-0", 0, NULL, 0, 1);
}

static int given(const char *synthetic, const char *const *lists, unsigned int count,
		 unsigned int workers, struct ivl_topology **t)
{
	const struct ivl_config config = {
		.places = IVL_PLACES_GIVEN, .workers = workers,
		.place_cpus = lists, .place_count = count,
	};

	test_machine(synthetic);
	return ivl_topology_create(&config, t);
}

static struct ivl_topology *must_be_given(const char *synthetic, const char *const *lists,
					  unsigned int count, unsigned int workers)
{
	struct ivl_topology *t;

	assert_int_equal(given(synthetic, lists, count, workers, &t), 0);
	return t;
}

#define GIVEN(name, ...) \
	__attribute__((cleanup(test_topology_end))) struct ivl_topology *name = \
		must_be_given(__VA_ARGS__)

TEST(given)
{
	static const char *const lists[] = { "0-1", "4,5", "2-3" };
	static const char *const crossing[] = { "0,4-5", "1-3" };
	GIVEN(t, "package:2 l3:2 core:2 pu:1", lists, 3, 0);
	GIVEN(across, "package:2 core:4 pu:1", crossing, 2, 0);
	GIVEN(both, "node:2 core:2 pu:1", (const char *[]){ "0,2" }, 1, 0);

	assert_int_equal(t->workers, 6);
	assert_int_equal(t->inner_count, 2);
	assert_place(&t->inner[0], "machine", 0, NULL, 0, 6);
	/* Its places are not adjacent. */
	assert_place(&t->inner[1], "package-0", 0, "machine", 0, 4);
	assert_place(&t->leaves[0], "place-0", 0, "package-0", 0, 2);
	assert_place(&t->leaves[1], "place-1", 0, "machine", 2, 2);
	assert_place(&t->leaves[2], "place-2", 0, "package-0", 4, 2);
	assert_int_equal(ivl_topology_distance(&t->leaves[0], &t->leaves[2]), 1);
	assert_int_equal(ivl_topology_distance(&t->leaves[0], &t->leaves[1]), 2);
	/* From outside the package one step up includes both. */
	assert_int_equal(ivl_topology_distance(&t->leaves[1], &t->leaves[0]), 1);

	/* Across packages there is only the machine around them. */
	assert_int_equal(across->inner_count, 1);
	assert_cpus(&across->leaves[0], "0 4 5");
	assert_int_equal(ivl_place_node(&both->leaves[0]), -1);
}

/* In proportion, but each has one. */
TEST(given_unequal)
{
	static const char *const unequal[] = { "0", "1-15" };
	static const unsigned int cases[][3] = { { 0, 1, 15 }, { 2, 1, 1 }, { 32, 2, 30 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		GIVEN(t, "core:16 pu:1", unequal, 2, cases[i][0]);

		assert_int_equal(workers_at(t, 0), cases[i][1]);
		assert_int_equal(workers_at(t, 1), cases[i][2]);
	}
}

TEST(bad_lists)
{
	static const struct {
		const char *first, *second, *message;
	} bad[] = {
		{ "", NULL, "place 0: the list of CPUs is empty" },
		{ NULL, NULL, "place 0: the list of CPUs is empty" },
		{ "0", "", "place 1: the list of CPUs is empty" },
		{ "0-", NULL, "place 0: \"0-\" is not a list of CPUs such as \"0-3,8\"" },
		{ "0,", NULL, "place 0: \"0,\" is not a list of CPUs such as \"0-3,8\"" },
		{ "-1", NULL, "place 0: \"-1\" is not a list of CPUs such as \"0-3,8\"" },
		{ "1-0", NULL, "place 0: \"1-0\" is not a list of CPUs such as \"0-3,8\"" },
		{ "0 1", NULL, "place 0: \"0 1\" is not a list of CPUs such as \"0-3,8\"" },
		{ "all", NULL, "place 0: \"all\" is not a list of CPUs such as \"0-3,8\"" },
		{ "0x1", NULL, "place 0: \"0x1\" is not a list of CPUs such as \"0-3,8\"" },
		{ "99999999999999999999", NULL,
		  "place 0: \"99999999999999999999\" is not a list of CPUs such as \"0-3,8\"" },
		{ "0,9", NULL,
		  "place 0: \"0,9\": this process may not use CPU 9, only 0-3" },
		{ "2-4294967295", NULL,
		  "place 0: \"2-4294967295\": this process may not use CPU 4, only 0-3" },
		{ "4294967295", NULL,
		  "place 0: \"4294967295\": this process may not use CPU 4294967295, only 0-3" },
		{ "0-2", "3,2", "place 1: \"3,2\": CPU 2 is in another place too" },
	};
	static const char *const both[] = { "0", "1" };
	struct ivl_topology *t = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *lists[] = { bad[i].first, bad[i].second };

		assert_int_equal(given("core:4 pu:1", lists, 1 + !!bad[i].second, 0, &t), EINVAL);
		assert_string_equal(ivl_last_error(), bad[i].message);
	}
	assert_int_equal(given("core:4 pu:1", NULL, 0, 0, &t), EINVAL);
	assert_string_equal(ivl_last_error(), "place_cpus is empty");
	assert_int_equal(given("core:4 pu:1", both, 2, 1, &t), EINVAL);
	assert_string_equal(ivl_last_error(), "2 places for 1 workers: each place needs one");
	assert_null(t);
}

/* Fail one allocation after the other: each is an ENOMEM, and nothing is lost. */
TEST(no_memory)
{
	static const char *const lists[] = { "0-1", "4-5", "2-3" };
	const struct ivl_config configs[] = {
		{ .places = IVL_PLACES_LLC },
		{ .places = IVL_PLACES_GIVEN, .place_cpus = lists, .place_count = 3 },
	};
	struct ivl_topology *t;

	test_machine("package:2 l3:2 core:2 pu:1");
	for (size_t i = 0; i < sizeof(configs) / sizeof(*configs); i++) {
		int error = ENOMEM;
		int failures = 0;

		for (; error; failures++) {
			test_allocations_left = failures;
			error = ivl_topology_create(&configs[i], &t);
			test_allocations_left = -1;
			assert_true(error == 0 || error == ENOMEM);
		}
		assert_true(failures > 10);
		ivl_topology_destroy(t);
	}
	test_allocations_left = 0;
	assert_null(ivl_node_alloc(1, -1));
	test_allocations_left = -1;
}

TEST(bad_kind)
{
	const struct ivl_config config = { .places = IVL_PLACES_KINDS };
	struct ivl_topology *t;

	assert_int_equal(ivl_topology_create(&config, &t), EINVAL);
}

/* Nothing is bound to the CPUs of another machine. */
TEST(not_bound)
{
	TEST_TOPOLOGY(t, "core:4 pu:1", IVL_PLACES_ONE, 0);

	for (unsigned int i = 0; i < t->workers; i++)
		assert_int_equal(ivl_topology_cpu(t, i), -1);
}

/* Workers bound to their places' CPUs leave the remaining threads CPUs of their own. */
TEST(apart)
{
	static const struct {
		const char *machine;
		enum ivl_places_by places;
		unsigned int workers;
		bool apart;
	} cases[] = {
		{ "numa:2 pu:4", IVL_PLACES_NUMA, 0, true },
		{ "numa:2 pu:4", IVL_PLACES_NUMA, 2, true },
		{ "numa:2 pu:4", IVL_PLACES_NUMA, 1, false },	/* node 0 would be the default */
		{ "numa:4 pu:4", IVL_PLACES_NUMA, 3, false },
		{ "numa:1 pu:4", IVL_PLACES_NUMA, 0, false },
		{ "numa:2 pu:4", IVL_PLACES_ONE, 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_TOPOLOGY(made, cases[i].machine, cases[i].places, cases[i].workers);

		assert_int_equal(made->apart, cases[i].apart);
	}
	/* A single given place says where the workers run. */
	GIVEN(t, "numa:2 pu:4", (const char *[]){ "0-1" }, 1, 0);
	assert_true(t->apart);
}

/* On this machine: the thread's CPUs, and twice as many workers. */
TEST(this_machine)
{
	struct ivl_topology *t;
	cpu_set_t before, now;
	unsigned int cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	cpus = (unsigned int)CPU_COUNT(&before);
	t = test_topology(NULL, IVL_PLACES_NUMA, 2 * cpus);
	for (unsigned int i = 0; i < 2 * cpus; i++) {
		const int cpu = ivl_topology_cpu(t, i);

		assert_true(CPU_ISSET(cpu, &before));
		assert_int_equal(ivl_bind(pthread_self(), &cpu, 1), 0);
		assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
		assert_int_equal(CPU_COUNT(&now), 1);
		assert_true(CPU_ISSET(cpu, &now));
	}
	/* Bound to the last CPU, it sees only that. */
	ivl_topology_destroy(t);
	t = test_topology(NULL, IVL_PLACES_ONE, 0);
	assert_int_equal(t->workers, 1);
	assert_true(CPU_ISSET(t->leaves[0].cpus[0], &now));
	ivl_topology_destroy(t);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	t = test_topology(NULL, IVL_PLACES_ONE, 0);
	assert_int_equal(t->workers, cpus);
	ivl_topology_destroy(t);

	assert_int_equal(ivl_bind(pthread_self(), &(int){ -1 }, 1), EINVAL);
	assert_int_equal(ivl_bind(pthread_self(), &(int){ 100000 }, 1), EINVAL);
}

/* By default there are as many workers as the cgroup lets run at a time. */
TEST(quota)
{
	TEST_TOPOLOGY(unlimited, NULL, IVL_PLACES_ONE, 0);
	const unsigned int cpus = unlimited->workers;

	for (quota = 1; quota <= cpus + 1; quota++) {
		TEST_TOPOLOGY(by_default, NULL, IVL_PLACES_ONE, 0);
		TEST_TOPOLOGY(asked_for, NULL, IVL_PLACES_ONE, cpus + 2);

		assert_int_equal(by_default->workers, quota < cpus ? quota : cpus);
		assert_int_equal(asked_for->workers, cpus + 2);
	}
	/* Not of another machine. */
	quota = 1;
	TEST_TOPOLOGY(other, "core:8 pu:1", IVL_PLACES_ONE, 0);
	assert_int_equal(other->workers, 8);
	quota = 0;
}

static void use_memory(size_t bytes, int node)
{
	char *memory = ivl_node_alloc(bytes, node);

	assert_non_null(memory);
	assert_int_equal((uintptr_t)memory % 128, 0);
	memset(memory, 1, bytes);
	ivl_node_free(memory, bytes, node);
}

static bool may_bind(void)
{
	unsigned long node_0 = 1;
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool bound = page != MAP_FAILED &&
		     !syscall(SYS_mbind, page, 4096, MPOL_PREFERRED, &node_0,
			      sizeof(node_0) * 8, 0);

	if (page != MAP_FAILED)
		munmap(page, 4096);
	return bound;
}

TEST(memory)
{
	static const int nodes[] = { -1, 0, 1, 63, 100000 };
	char *memory;
	int policy = -1;

	for (int pretend = 0; pretend < 2; pretend++) {
		pretend_nodes = pretend;
		for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
			use_memory(0, nodes[i]);
			use_memory(1, nodes[i]);
			use_memory(100000, nodes[i]);
			assert_null(ivl_node_alloc(SIZE_MAX, nodes[i]));
		}
	}
	ivl_node_free(NULL, 0, -1);

	/* If this process may set a memory policy, the memory has one. */
	memory = ivl_node_alloc(4096, 0);
	memory[0] = 1;
	if (may_bind()) {
		unsigned long mask[16] = { 0 };

		assert_int_equal(syscall(SYS_get_mempolicy, &policy, mask,
					 sizeof(mask) * 8, memory, MPOL_F_ADDR), 0);
		assert_int_equal(policy, MPOL_PREFERRED);
		assert_int_equal(mask[0], 1);
	} else {
		print_message("mbind() is forbidden here\n");
	}
	ivl_node_free(memory, 4096, 0);
	pretend_nodes = false;
}

TEST_MAIN(NULL, NULL)
