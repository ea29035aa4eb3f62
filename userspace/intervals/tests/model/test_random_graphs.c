// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Random graphs of intervals inside each other, with random edges between any points,
 * checked against a matrix of the points' order. Exactly the edges that close a cycle must be
 * refused; every interval must run once, after all its predecessors; and no successor of a failed
 * interval may run.
 *
 *	test_random_graphs [GRAPHS [SEED]]
 */
#include "test_model.h"

#define MOST 24
#define POINTS (2 * MOST + 2)
#define EDGES 60

/* The points of interval i are 2 * i and 2 * i + 1; the last interval is the outermost. */
struct graph {
	uint64_t random;
	int size;
	ivl_interval *interval[MOST];
	int parent[MOST];
	uint64_t after[POINTS];		/* bit q of after[p]: p comes before q */
	_Atomic int clock, runs[MOST];
	int began[MOST], ended[MOST];
	int failing;			/* -1: none */
	bool joins;
};

struct member {
	struct graph *graph;
	int number;
};

static unsigned int pick(struct graph *graph, unsigned int below)
{
	graph->random ^= graph->random << 13;
	graph->random ^= graph->random >> 7;
	graph->random ^= graph->random << 17;
	return (unsigned int)(graph->random >> 33) % below;
}

static bool comes_before(const struct graph *graph, int from, int to)
{
	return graph->after[from] >> to & 1;
}

/* `from` and its predecessors now precede `to` and its successors. */
static void put_edge(struct graph *graph, int from, int to)
{
	const uint64_t more = graph->after[to] | (uint64_t)1 << to;

	for (int p = 0; p < POINTS; p++)
		if (p == from || comes_before(graph, p, from))
			graph->after[p] |= more;
}

BODY(member_main, struct member *m)
{
	struct graph *graph = m->graph;

	graph->began[m->number] = atomic_fetch_add(&graph->clock, 1);
	atomic_fetch_add(&graph->runs[m->number], 1);
	graph->ended[m->number] = atomic_fetch_add(&graph->clock, 1);
	return m->number == graph->failing ? EIO : 0;
}

static ivl_point *point(struct graph *graph, int number)
{
	ivl_interval *interval = graph->interval[number / 2];

	return number % 2 ? END(interval) : START(interval);
}

/* Between the first `made` intervals. */
static void try_edge(struct graph *graph, int made)
{
	const int from = (int)pick(graph, (unsigned int)made * 2);
	const int to = (int)pick(graph, (unsigned int)made * 2);
	const bool cycle = from == to || comes_before(graph, to, from);

	CHECK(ivl_add_edge(point(graph, from), point(graph, to)) == (cycle ? EDEADLK : 0));
	if (!cycle)
		put_edge(graph, from, to);
}

OK_BODY(build, struct graph *graph)
{
	static struct member members[MOST];

	for (int i = 0; i < graph->size; i++) {
		/* Often the root, so that the tree is not too deep. */
		const int parent = (int)pick(graph, (unsigned int)(2 * i + 1)) - i - 1;
		const int outer = parent < 0 ? MOST : parent;

		members[i] = (struct member){ graph, i };
		graph->parent[i] = parent;
		graph->interval[i] = make(parent < 0 ? self : graph->interval[parent], NULL,
					  member_main, &members[i]);
		put_edge(graph, 2 * i, 2 * i + 1);
		put_edge(graph, 2 * outer, 2 * i);
		put_edge(graph, 2 * i + 1, 2 * outer + 1);
		/* Some edges are added before all intervals are made. */
		if (pick(graph, 2))
			try_edge(graph, i + 1);
	}
	for (unsigned int n = pick(graph, EDGES); n; n--)
		try_edge(graph, graph->size);
	for (int p = 0; p < 2 * graph->size; p++) {
		const int q = (int)pick(graph, (unsigned int)graph->size * 2);

		CHECK(ivl_happens_before(point(graph, p), point(graph, q)) ==
		      comes_before(graph, p, q));
	}
	if (graph->joins) {
		const int end = 2 * (int)pick(graph, (unsigned int)graph->size) + 1;

		ivl_schedule();
		ivl_join(point(graph, end));
		for (int i = 0; i < graph->size; i++)
			CHECK(!comes_before(graph, 2 * i + 1, end) ||
			      ivl_occurred(END(graph->interval[i])));
	}
	for (int i = 0; i < graph->size; i++)
		ivl_release(graph->interval[i]);
}

/* Did it have to run? */
static bool spared(const struct graph *graph, int i)
{
	return graph->failing >= 0 && comes_before(graph, 2 * graph->failing + 1, 2 * i);
}

/* Its subintervals may have begun before it failed, or not. */
static bool inside_failing(const struct graph *graph, int i)
{
	while (i >= 0 && i != graph->failing)
		i = graph->parent[i];
	return i >= 0;
}

/* May a skipped descendant of the failing interval have kept it from running? */
static bool uncertain(const struct graph *graph, int i)
{
	if (graph->failing < 0)
		return false;
	for (int j = 0; j < graph->size; j++)
		if (j != graph->failing && inside_failing(graph, j) &&
		    (i == j || comes_before(graph, 2 * j, 2 * i)))
			return true;
	return false;
}

static void check_graph(const struct graph *graph)
{
	for (int i = 0; i < graph->size; i++) {
		if (spared(graph, i))
			assert_int_equal(graph->runs[i], 0);
		else if (!uncertain(graph, i))
			assert_int_equal(graph->runs[i], 1);
		for (int j = 0; j < graph->size; j++)
			if (graph->runs[i] && graph->runs[j] &&
			    comes_before(graph, 2 * i + 1, 2 * j))
				assert_true(graph->ended[i] < graph->began[j]);
	}
}

static int graphs = 2000;
static uint64_t seed = 1;

static void run_graphs(bool failing)
{
	for (int i = 0; i < graphs; i++) {
		struct graph graph = { .random = seed + (uint64_t)i * 0x9e3779b97f4a7c15 };

		graph.size = 1 + (int)pick(&graph, MOST);
		graph.joins = pick(&graph, 2);
		graph.failing = failing ? (int)pick(&graph, (unsigned int)graph.size) : -1;
		/* The outermost interval. */
		put_edge(&graph, 2 * MOST, 2 * MOST + 1);
		assert_int_equal(run_body(build, &graph), failing ? EIO : 0);
		check_graph(&graph);
	}
}

TEST(random_graphs)
{
	run_graphs(false);
}

TEST(random_graphs_that_fail)
{
	run_graphs(true);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		graphs = atoi(argv[1]);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	return test_run_all(model_start, model_stop);
}
