// SPDX-License-Identifier: LGPL-2.1-or-later
/* Do nodes run at the places that they are given? */
#include <sys/syscall.h>

#include "runtimes/intervals.c"

#include "../../tests/test.h"

#define NODES 8

static unsigned int where[NODES];

static void note_place(void *arg)
{
	*(unsigned int *)arg = ivl_place_index(ivl_here());
}

static void make(struct par_node *nodes, void *arg)
{
	for (unsigned int i = 0; i < NODES; i++)
		par_node(&nodes[i], i, note_place, &where[i], NULL, NULL);
}

static void run_graph(void)
{
	struct par_node nodes[NODES];

	par_graph(make, nodes, NODES, NULL);
}

TEST(hints_are_places)
{
	setenv("HWLOC_SYNTHETIC", "numa:2 pu:2", 1);
	setenv("INTERVALS_CROSS_PLACE", "off", 1);
	assert_int_equal(start(4), 0);
	assert_int_equal(ivl_place_count(par_runtime), 2);
	enter(run_graph);
	for (unsigned int i = 0; i < NODES; i++)
		assert_int_equal(where[i], i % 2);
	stop();
}

TEST(no_hint_is_no_place)
{
	assert_int_equal(start(1), 0);
	assert_null(place_at(PAR_ANYWHERE));
	stop();
}

/* After a node that could not be made: no crash, and the check finds the missing task. */
static void make_after_none(struct par_node *nodes, void *arg)
{
	unsigned int *ran = arg;

	nodes[0].interval = NULL;
	par_node(&nodes[1], PAR_ANYWHERE, note_place, ran, &nodes[0], NULL);
}

static void run_after_none(void)
{
	struct par_node nodes[2];

	where[0] = ~0U;
	par_graph(make_after_none, nodes, 2, &where[0]);
}

TEST(after_a_node_that_is_none)
{
	assert_int_equal(start(1), 0);
	enter(run_after_none);
	assert_int_equal(where[0], ~0U);
	stop();
}

static unsigned int dispatched[3];	/* to an object: not bound, bound, forgotten */

static void run_dispatch(void)
{
	static char object[64], other[64];
	const void *uses[] = { other, object };

	memset(object, 1, sizeof(object));
	dispatched[0] = par_dispatch(uses, 2);
	par_bind(object, sizeof(object));
	dispatched[1] = par_dispatch(uses, 2);
	par_forget();
	dispatched[2] = par_dispatch(uses, 2);
}

/* It has no such call, or does not allow it, as in many containers. */
static bool kernel_hides_where_pages_are(void)
{
	void *page = &where;
	int node;

	return syscall(SYS_move_pages, 0, 1, &page, NULL, &node, 0) < 0 &&
	       (errno == EPERM || errno == ENOSYS);
}

/* The kernel has one node, which is the first of the synthetic ones. */
TEST(a_task_is_sent_to_what_is_bound)
{
	if (kernel_hides_where_pages_are())
		test_leave_out("the kernel does not say where pages are");
	setenv("HWLOC_SYNTHETIC", "numa:2 pu:2", 1);
	assert_int_equal(start(4), 0);
	enter(run_dispatch);
	assert_int_equal(dispatched[0], PAR_ANYWHERE);
	assert_int_equal(dispatched[1], 0);
	assert_int_equal(dispatched[2], PAR_ANYWHERE);
	stop();
}

TEST_MAIN(NULL, NULL)
