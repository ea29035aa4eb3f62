// SPDX-License-Identifier: LGPL-2.1-or-later
/* Do nodes run at the places that they are given? */
#include <setjmp.h>
#include <stdarg.h>

#include "runtimes/intervals.c"

#include <cmocka.h>

#define NODES 8

static unsigned int where[NODES];

static void note_place(void *arg)
{
	*(unsigned int *)arg = ivl_place_index(ivl_here());
}

static void make(struct par_node *nodes, void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < NODES; i++)
		par_node(&nodes[i], i, note_place, &where[i], NULL, NULL);
}

static void run_graph(void)
{
	struct par_node nodes[NODES];

	par_graph(make, nodes, NODES, NULL);
}

static void test_hints_are_places(void **state)
{
	(void)state;
	setenv("HWLOC_SYNTHETIC", "numa:2 pu:2", 1);
	setenv("INTERVALS_CROSS_PLACE", "off", 1);
	assert_int_equal(start(4), 0);
	assert_int_equal(ivl_place_count(par_runtime), 2);
	enter(run_graph);
	for (unsigned int i = 0; i < NODES; i++)
		assert_int_equal(where[i], i % 2);
	stop();
}

static void test_no_hint_is_no_place(void **state)
{
	(void)state;
	assert_int_equal(start(1), 0);
	assert_null(place_at(PAR_ANYWHERE));
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints_are_places),
		cmocka_unit_test(test_no_hint_is_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
