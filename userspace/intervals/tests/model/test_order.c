// SPDX-License-Identifier: LGPL-2.1-or-later
/* Points, edges, joining. */
#include "test_model.h"

OK_BODY(figure, void *trace)
{
	OWNED *a = make(self, "a", note, trace), *b = make(self, "b", note, trace);
	OWNED *c = make(self, "c", note, trace), *d = make(self, "d", note, trace);

	before(a, b);
	before(a, c);
	before(b, d);
	before(c, d);
}

/* The thesis' Figure 1.1. */
TEST(runs_in_the_order_of_edges)
{
	for (int i = 0; i < 300; i++) {
		struct trace trace = { 0 };

		assert_int_equal(run_body(figure, &trace), 0);
		assert_int_equal(trace.count, 4);
		assert_int_equal(trace.who[0], 'a');
		assert_int_equal(trace.who[3], 'd');
	}
}

static void check_order(ivl_point *first, ivl_point *second)
{
	CHECK(ivl_happens_before(first, second));
	CHECK(!ivl_happens_before(second, first));
}

static void check_no_order(ivl_point *one, ivl_point *other)
{
	CHECK(!ivl_happens_before(one, other));
	CHECK(!ivl_happens_before(other, one));
}

TEST_INSIDE(knows_what_happens_before)
{
	ivl_interval *a = make(self, "a", test_nothing, NULL);
	ivl_interval *a1 = make(a, "a1", test_nothing, NULL);
	ivl_interval *b = make(self, "b", test_nothing, NULL);
	ivl_interval *b1 = make(b, "b1", test_nothing, NULL);
	ivl_interval *c = make(self, "c", test_nothing, NULL);
	ivl_interval *const all[] = { a, a1, b, b1, c };

	check_no_order(END(a), START(b));
	check_no_order(START(a), END(c));
	before(a, b);
	before(b, c);
	for (int i = 0; i < 5; i++) {
		check_order(START(all[i]), END(all[i]));
		check_order(START(self), START(all[i]));
		check_order(END(all[i]), END(self));
		CHECK(!ivl_happens_before(START(all[i]), START(all[i])));
	}
	/* Transitive. */
	check_order(START(a), END(c));
	check_order(END(a), START(c));
	/* A child is inside its parent. */
	check_order(START(a), START(a1));
	check_order(END(a1), END(a));
	/* And precedes its parent's successors. */
	check_order(START(a1), START(b));
	check_order(END(a1), END(b1));
	check_order(END(a1), START(c));
	for (int i = 0; i < 5; i++)
		ivl_release(all[i]);
}

static void check_illegal(int error, ivl_point *from, ivl_point *to, const char *words)
{
	CHECK(ivl_add_edge(from, to) == error);
	if (strncmp(ivl_last_error(), words, strlen(words))) {
		fprintf(stderr, "\"%s\", not \"%s\"\n", ivl_last_error(), words);
		atomic_fetch_add(&test_failures, 1);
	}
}

OK_BODY(edge_to_own_start, ivl_interval *other)
{
	check_illegal(EALREADY, END(other), START(self), "edge a.end -> inline.start: its");
}

TEST_INSIDE(refuses_cycles_and_the_past)
{
	OWNED *a = make(self, "a", test_nothing, NULL), *a1 = make(a, "a1", test_nothing, NULL);
	OWNED *b = make(self, "b", test_nothing, NULL), *c = make(self, "c", test_nothing, NULL);

	check_illegal(EDEADLK, END(a), END(a), "edge a.end -> a.end: would close a cycle");
	check_illegal(EDEADLK, END(a), START(a), "edge a.end -> a.start: would close a cycle");
	check_illegal(EDEADLK, END(a), START(a1), "edge a.end -> a1.start: would close a cycle");
	check_illegal(EDEADLK, END(a), END(a1), "edge a.end -> a1.end: would close a cycle");
	check_illegal(EDEADLK, END(a1), START(a), "edge a1.end -> a.start: would close a cycle");
	/* Edges that the tree implies are no error. */
	edge(START(a), START(a1));
	edge(END(a1), END(a));
	edge(START(a), END(a));
	before(a, b);
	check_illegal(EDEADLK, END(b), START(a), "edge b.end -> a.start: would close a cycle");
	check_illegal(EDEADLK, START(b), START(a), "edge b.start -> a.start: would");
	check_illegal(EDEADLK, END(b), START(a1), "edge b.end -> a1.start: would");
	check_illegal(EDEADLK, START(b), END(a1), "edge b.start -> a1.end: would");
	before(b, c);
	check_illegal(EDEADLK, END(c), START(a1), "edge c.end -> a1.start: would");
	/* Refused edges leave no trace. */
	CHECK(!ivl_happens_before(END(c), END(a)));
	CHECK(ivl_inline("inline", edge_to_own_start, a) == 0);
	/* Out of an interval, and into one. */
	edge(END(a1), START(c));
	ivl_schedule();
	check_illegal(EALREADY, END(b), START(c), "edge b.end -> c.start: its target may have");
	check_illegal(EALREADY, END(b), END(c), "edge b.end -> c.end: its target may have");
	check_illegal(EDEADLK, END(b), START(self), "edge b.end -> (unnamed).start: would");
	/* An interval's own end is always ahead. */
	edge(START(c), END(self));
}

OK_BODY(illegal_child, void *other)
{
	CHECK(!ivl_create(other, "late", test_nothing, NULL, NULL));
	CHECK(strstr(ivl_last_error(), "other"));
}

TEST_INSIDE(refuses_a_parent_that_may_have_ended)
{
	OWNED *other = make(self, "other", test_nothing, NULL);
	OWNED *maker = make(self, "maker", illegal_child, other);

	CHECK(!ivl_create(NULL, "orphan", test_nothing, NULL, NULL));
	ivl_schedule();
	CHECK(ivl_join(END(maker)) == 0);
}

/* An interval that precedes another may still add edges to it and subintervals inside it. */
struct ahead {
	struct trace trace;
	ivl_interval *x, *y, *b;
};

BODY(add_ahead, struct ahead *ahead)
{
	OWNED *in;

	before(ahead->y, ahead->b);
	in = make(ahead->b, "i", note, &ahead->trace);
	return note(self, &ahead->trace);
}

OK_BODY(make_ahead, struct ahead *ahead)
{
	ahead->x = make(self, "x", add_ahead, ahead);
	ahead->y = make(self, "y", note, &ahead->trace);
	ahead->b = make(self, "b", note, &ahead->trace);
	before(ahead->x, ahead->b);
}

TEST(adds_to_what_comes_after_the_caller)
{
	for (int i = 0; i < 300; i++) {
		struct ahead ahead = { 0 };

		assert_int_equal(run_body(make_ahead, &ahead), 0);
		assert_true(ran_before(&ahead.trace, 'x', 'b'));
		assert_true(ran_before(&ahead.trace, 'y', 'b'));
		assert_true(ran_before(&ahead.trace, 'x', 'i'));
		assert_int_equal(ahead.trace.count, 4);
		RELEASE(ahead.x, ahead.y, ahead.b);
	}
}

/*
 * Two intervals add edges that close a cycle, alone or together with two existing edges: exactly one
 * of the additions succeeds.
 */
struct race {
	int nodes;
	struct adder {
		int from, to;		/* nodes */
		struct race *race;
	} adders[2];
	ivl_interval *node[4];
	_Atomic int here, refused;
};

OK_BODY(adds_edge, struct adder *adder)
{
	struct race *race = adder->race;
	int error;

	atomic_fetch_add(&race->here, 1);
	/* With one worker the other comes later: do not wait for long. */
	for (int i = 0; i < 1000 && atomic_load(&race->here) < 2; i++)
		if (i % 100 == 99)
			sched_yield();
	error = ivl_add_edge(END(race->node[adder->from]), START(race->node[adder->to]));
	CHECK(!error || error == EDEADLK);
	if (error)
		atomic_fetch_add(&race->refused, 1);
}

OK_BODY(make_race, struct race *race)
{
	ivl_interval *adders[2];

	for (int i = 0; i < 2; i++)
		adders[i] = make(self, "adder", adds_edge, &race->adders[i]);
	for (int i = 0; i < race->nodes; i++)
		race->node[i] = make(self, "node", test_nothing, NULL);
	for (int i = 0; i < 2; i++) {
		before(adders[i], race->node[0]);
		before(adders[i], race->node[race->nodes - 1]);
		ivl_release(adders[i]);
	}
	if (race->nodes == 4) {
		before(race->node[0], race->node[2]);
		before(race->node[3], race->node[1]);
	}
}

TEST(refuses_one_of_two_that_close_a_cycle)
{
	for (int i = 0; i < 6000; i++) {
		struct race race = { .nodes = 4, .adders = { { 1, 0, &race }, { 2, 3, &race } } };

		if (i % 2) {
			race.nodes = 2;
			race.adders[1] = (struct adder){ 0, 1, &race };
		}
		assert_int_equal(run_body(make_race, &race), 0);
		assert_int_equal(race.refused, 1);
		for (int node = 0; node < race.nodes; node++)
			ivl_release(race.node[node]);
	}
}

OK_BODY(schedules, void *trace)
{
	OWNED *a = make(self, "a", note, trace), *b;

	ivl_schedule();
	CHECK(ivl_join(END(a)) == 0);
	CHECK(ran(trace, 'a'));
	CHECK(ivl_occurred(END(a)));
	b = make(self, "b", note, trace);
	CHECK(ivl_join(END(b)) == EDEADLK);
	CHECK(!ivl_occurred(START(b)));
	before(a, b);
}

TEST(joins_what_it_has_scheduled)
{
	for (int i = 0; i < 300; i++) {
		struct trace trace = { 0 };

		assert_int_equal(run_body(schedules, &trace), 0);
		assert_true(ran_before(&trace, 'a', 'b'));
	}
}

struct tree {
	_Atomic long leaves;
	int depth;
};

struct node {
	struct tree *tree;
	int depth;
};

/* Each node joins its two subintervals: more nodes wait than workers exist. */
BODY(grow, struct node *node)
{
	struct node below = { node->tree, node->depth - 1 };
	ivl_interval *children[2];

	if (!node->depth) {
		atomic_fetch_add(&node->tree->leaves, 1);
		return 0;
	}
	for (int i = 0; i < 2; i++)
		children[i] = make(self, "child", grow, &below);
	ivl_schedule();
	for (int i = 0; i < 2; i++) {
		CHECK(ivl_join(END(children[i])) == 0);
		ivl_release(children[i]);
	}
	return 0;
}

TEST(joins_inside_tasks)
{
	struct tree tree = { 0 };
	struct node node = { &tree, 10 };

	assert_int_equal(run_body(grow, &node), 0);
	assert_int_equal(tree.leaves, 1024);
}

OK_BODY(join_oneself, ivl_interval *later)
{
	CHECK(ivl_join(END(self)) == EDEADLK);
	CHECK(ivl_join(END(ivl_parent(self))) == EDEADLK);
	CHECK(ivl_join(START(self)) == 0);
	CHECK(ivl_join(END(later)) == EDEADLK);
	CHECK(strstr(ivl_last_error(), "later.end"));
}

TEST_INSIDE(does_not_wait_for_itself)
{
	OWNED *later = make(self, "later", test_nothing, NULL);
	OWNED *now = make(self, "now", join_oneself, later);

	CHECK(!ivl_parent(self));
	CHECK(ivl_parent(now) == self);
	CHECK(ivl_current() == self);
	before(now, later);
	ivl_schedule();
	CHECK(ivl_join(END(now)) == 0);
}

TEST(outside)
{
	assert_null(ivl_current());
	assert_null(ivl_create(NULL, NULL, test_nothing, NULL, NULL));
	assert_int_equal(ivl_inline("outside", test_nothing, NULL), EINVAL);
}

struct family {
	ivl_interval *child;
};

OK_BODY(grandchild, struct family *family)
{
	ivl_retain(self);
	family->child = self;
}

OK_BODY(middle, void *arg)
{
	ivl_release(make(self, "child", grandchild, arg));
}

OK_BODY(eldest, void *arg)
{
	ivl_release(make(self, "parent", middle, arg));
}

TEST(what_is_kept_keeps_its_parents)
{
	struct family family = { 0 }, other = { 0 };
	ivl_interval *parent;

	assert_int_equal(run_body(eldest, &family), 0);
	/* Other intervals, in the memory of the ended ones. */
	assert_int_equal(run_body(eldest, &other), 0);
	ivl_release(other.child);
	parent = ivl_parent(family.child);
	assert_string_equal(ivl_name(family.child), "child");
	assert_string_equal(ivl_name(parent), "parent");
	assert_null(ivl_name(ivl_parent(parent)));
	assert_null(ivl_parent(ivl_parent(parent)));
	assert_int_equal(ivl_join(END(parent)), 0);
	assert_true(ivl_happens_before(START(parent), END(family.child)));
	ivl_release(family.child);
}

OK_BODY(inlines, void *trace)
{
	OWNED *a = make(self, "a", note, trace);

	CHECK(ivl_inline("i", note, trace) == 0);
	CHECK(ran(trace, 'i'));
	CHECK(!ran(trace, 'a'));
	CHECK(ivl_current() == self);
	/* An inline interval waits for its subintervals. */
	CHECK(ivl_inline("figure", figure, trace) == 0);
	CHECK(ran(trace, 'd'));
}

TEST(runs_inline_intervals_at_once)
{
	for (int i = 0; i < 300; i++) {
		struct trace trace = { 0 };

		assert_int_equal(run_body(inlines, &trace), 0);
		assert_int_equal(trace.count, 6);
	}
}

/* Intervals made by spawned parts of a body are the body's children. */
static void spawned(void *arg)
{
	OWNED *s = make(ivl_current(), "s", note, arg);
	OWNED *t = make(ivl_current(), "t", note, arg);

	before(s, t);
}

OK_BODY(spawns, void *trace)
{
	spawn_and_sync(20, spawned, trace);
}

/*
 * Some tasks schedule while their siblings still build: a sibling may get EALREADY, and its
 * intervals still run. Inside an inline interval a task is the only builder.
 */
static void builds_and_schedules(void *trace)
{
	OWNED *s = make(ivl_current(), "s", note, trace), *t;
	int error;

	ivl_schedule();
	t = make(ivl_current(), "t", note, trace);
	error = ivl_add_edge(END(s), START(t));
	CHECK(!error || error == EALREADY);
	ivl_schedule();
	CHECK(ivl_join(END(s)) == 0);
}

OK_BODY(builds_alone, void *trace)
{
	OWNED *s = make(self, "s", note, trace), *t = make(self, "t", note, trace);

	before(s, t);
	ivl_schedule();
	CHECK(ivl_join(END(t)) == 0);
}

static void builds_inline(void *trace)
{
	CHECK(ivl_inline(NULL, builds_alone, trace) == 0);
}

OK_BODY(spawns_builders, void *trace)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[20];

	for (int i = 0; i < 20; i++)
		CHECK(ivl_spawn(&scope, &tasks[i], i % 2 ? builds_inline : builds_and_schedules,
				trace) == 0);
	ivl_sync(&scope);
}

/* At a spawn the child or the parent continues, on any fiber. */
TEST(spawned_parts_make_intervals)
{
	test_on_policies(config, 0) {
		TEST_RUNTIME(runtime, &config);

		for (int i = 0; i < 100; i++) {
			struct trace trace = { 0 };

			assert_int_equal(ivl_run(runtime, spawns, &trace), 0);
			assert_int_equal(trace.count, 40);
			assert_int_equal(ivl_run(runtime, spawns_builders, &trace), 0);
			assert_int_equal(trace.count, 80);
		}
	}
	checks_held();
}

static void *run_alone(void *runtime)
{
	for (int i = 0; i < 200; i++) {
		struct trace trace = { 0 };

		CHECK(ivl_run(runtime, figure, &trace) == 0);
		CHECK(trace.count == 4);
	}
	return NULL;
}

TEST(several_threads_run_at_once)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_alone, test_runtime), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	checks_held();
}

OK_BODY(run_in_other, void *other)
{
	run_alone(other);
	CHECK(ivl_current() == self);
}

OK_BODY(edge_to_other, ivl_interval *other)
{
	CHECK(ivl_add_edge(END(self), START(other)) == EINVAL);
	CHECK(!ivl_happens_before(START(self), END(other)));
	CHECK(!ivl_create(other, "in", test_nothing, NULL, NULL));
}

OK_BODY(make_edge_to_other, void *other)
{
	OWNED *a = make(self, "a", test_nothing, NULL);

	CHECK(ivl_run(other, edge_to_other, a) == 0);
}

TEST(runtimes_run_inside_each_other)
{
	TEST_RUNTIME(other, NULL);

	assert_int_equal(run_body(run_in_other, other), 0);
	assert_int_equal(run_body(run_in_other, test_runtime), 0);
	assert_int_equal(run_body(make_edge_to_other, other), 0);
}

/* As if it had made `count` children that have all ended. */
static void skip_children(ivl_interval *self, int32_t count)
{
	self->end.expected += count;
	atomic_fetch_sub(&self->end.left, count);
}

OK_BODY(makes_too_many, void *arg)
{
	/* Together more than `left` begins with. */
	for (int i = 0; i < 5; i++) {
		skip_children(self, IVL_OPEN / 4 - 100);
		for (int j = 0; j < 120; j++)
			CHECK(ivl_inline(NULL, test_nothing, NULL) == 0);
		CHECK(!ivl_occurred(END(self)));
	}
	*(bool *)arg = true;
}

TEST(does_not_end_before_its_body)
{
	bool returned = false;

	run_body(makes_too_many, &returned);
	assert_true(returned);
}

/* A spawned child knows the edges it has added, on any worker. */
struct part {
	bool stolen;
	_Atomic bool begun;
};

TASK(orders_two, struct part *part)
{
	OWNED *one = make(ivl_current(), "one", test_nothing, NULL);
	OWNED *two = make(ivl_current(), "two", test_nothing, NULL);

	atomic_store(&part->begun, true);
	CHECK(ivl_add_edge(END(one), START(two)) == 0);
	CHECK(ivl_happens_before(END(one), START(two)));
	CHECK(!ivl_happens_before(END(two), START(one)));
}

OK_BODY(spawns_orders, struct part *part)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	CHECK(ivl_spawn(&scope, &task, orders_two, part) == 0);
	while (part->stolen && !atomic_load(&part->begun))
		sched_yield();
	ivl_sync(&scope);
}

TEST(spawned_parts_know_their_order)
{
	for (unsigned int workers = 1; workers <= 2; workers++) {
		struct part part = { .stolen = workers == 2 };
		struct ivl_config config = test_config(workers);

		/* Work-first, another worker would steal the spawner. */
		config.policy = IVL_HELP_FIRST;
		test_run_on(&config, spawns_orders, &part);
	}
	checks_held();
}

OK_BODY(makes_a_sibling, ivl_interval **sibling)
{
	*sibling = make(ivl_parent(self), "sibling", test_nothing, NULL);
}

/* The inline interval schedules a child of its caller, and has no child of its own. */
OK_BODY(goes_on_after_inline, void *arg)
{
	OWNED *sibling;

	CHECK(ivl_inline("inline", makes_a_sibling, &sibling) == 0);
	/* Not ivl_join(), in which this worker would run it. */
	for (int i = 0; i < 1000000 && !ivl_occurred(END(sibling)); i++)
		sched_yield();
	CHECK(ivl_occurred(END(sibling)));
}

TEST(keeps_nothing_when_it_goes_on)
{
	TEST_WORKERS(two, 2);

	test_run(two, goes_on_after_inline, NULL);
	checks_held();
}

TEST_MAIN(model_start, model_stop)
