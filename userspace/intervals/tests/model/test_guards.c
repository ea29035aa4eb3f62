// SPDX-License-Identifier: LGPL-2.1-or-later
/* Guards: one holder at a time, in FIFO order, without blocking a worker. */
#include "test_model.h"

struct guarded {
	struct trace trace;
	ivl_guard *guard[3];
	int inside[3];			/* not atomic: the guard's */
	int order[4000];
	int count;
};

static void setup_guards(struct guarded *g)
{
	memset(g, 0, sizeof(*g));
	for (int i = 0; i < 3; i++) {
		g->guard[i] = ivl_guard_create(test_runtime, i ? "later" : "first");
		assert_non_null(g->guard[i]);
	}
}

static void release_guards(struct guarded *g)
{
	for (int i = 0; i < 3; i++)
		ivl_guard_release(g->guard[i]);
}

static void guard(ivl_interval *interval, ivl_guard *guard)
{
	CHECK(ivl_add_guard(interval, guard) == 0);
}

static void enter(struct guarded *g, int i)
{
	CHECK(ivl_holds(g->guard[i]));
	CHECK(g->inside[i]++ == 0);
}

static void leave(struct guarded *g, int i)
{
	CHECK(--g->inside[i] == 0);
}

struct numbered {
	struct guarded *g;
	int number;
};

BODY(write_number, struct numbered *n)
{
	enter(n->g, 0);
	n->g->order[n->g->count++] = n->number;
	leave(n->g, 0);
	return 0;
}

BODY(in_order, struct guarded *g)
{
	static struct numbered numbers[4000];

	for (int i = 0; i < 4000; i++) {
		ivl_interval *interval;

		numbers[i] = (struct numbered){ g, i };
		interval = make(self, NULL, write_number, &numbers[i]);
		guard(interval, g->guard[0]);
		/* A second time changes nothing. */
		guard(interval, g->guard[0]);
		ivl_release(interval);
	}
	return 0;
}

TEST(guards_are_given_in_order)
{
	struct guarded g;

	for (int round = 0; round < 10; round++) {
		setup_guards(&g);
		assert_int_equal(test_run(in_order, &g), 0);
		for (int i = 0; i < 4000; i++)
			assert_int_equal(g.order[i], i);
		release_guards(&g);
	}
}

/* All pairs of three guards, added in all orders: no two wait for each other. */
BODY(two_guards, struct guarded *g)
{
	const int pair = ivl_name(self)[0] - '0';

	for (int i = 0; i < 3; i++)
		if (i != pair)
			enter(g, i);
	CHECK(!ivl_holds(g->guard[pair]));
	for (int i = 0; i < 3; i++)
		if (i != pair)
			leave(g, i);
	atomic_fetch_add(&g->trace.count, 1);
	return 0;
}

BODY(philosophers, struct guarded *g)
{
	for (int i = 0; i < 3000; i++) {
		char name[2] = { (char)('0' + i % 3), 0 };
		ivl_interval *interval = make(self, name, two_guards, g);

		if (i % 2) {
			guard(interval, g->guard[i % 3 == 0 ? 1 : 0]);
			guard(interval, g->guard[i % 3 == 2 ? 1 : 2]);
		} else {
			guard(interval, g->guard[i % 3 == 2 ? 1 : 2]);
			guard(interval, g->guard[i % 3 == 0 ? 1 : 0]);
		}
		ivl_release(interval);
	}
	return 0;
}

TEST(several_guards_do_not_deadlock)
{
	struct guarded g;

	for (int round = 0; round < 10; round++) {
		setup_guards(&g);
		assert_int_equal(test_run(philosophers, &g), 0);
		assert_int_equal(g.trace.count, 3000);
		release_guards(&g);
	}
}

BODY(note_holding, struct guarded *g)
{
	CHECK(ivl_holds(g->guard[0]));
	return note(self, &g->trace);
}

/* Subintervals take their parent's guard again, and exclude each other. */
BODY(recursive, struct guarded *g)
{
	static const char *const names[] = { "a", "b1", "c11", "d111", "e2", "f21" };
	static const int parents[] = { -1, 0, 1, 2, 0, 4 };
	ivl_interval *all[6];

	for (int i = 0; i < 6; i++) {
		all[i] = make(i ? all[parents[i]] : self, names[i], note_holding, g);
		guard(all[i], g->guard[0]);
	}
	for (int i = 0; i < 6; i++)
		ivl_release(all[i]);
	return 0;
}

TEST(guards_nest)
{
	struct guarded g;

	for (int round = 0; round < 300; round++) {
		char order[7] = "";

		setup_guards(&g);
		assert_int_equal(test_run(recursive, &g), 0);
		assert_int_equal(g.trace.count, 6);
		/* The descendants of b, then of e, or the reverse; a runs in parallel. */
		for (int i = 0, n = 0; i < 6; i++)
			if (g.trace.who[i] != 'a')
				order[n++] = strchr("bcd", g.trace.who[i]) ? 'b' : 'e';
		assert_true(!strcmp(order, "bbbee") || !strcmp(order, "eebbb"));
		release_guards(&g);
	}
}

BODY(inside_holds, struct guarded *g)
{
	enter(g, 0);
	leave(g, 0);
	return note(self, &g->trace);
}

/* Runs in parallel with its parent's body. */
BODY(holds_too, struct guarded *g)
{
	CHECK(ivl_holds(g->guard[0]));
	return note(self, &g->trace);
}

BODY(does_not_hold, struct guarded *g)
{
	CHECK(!ivl_holds(g->guard[0]));
	return 0;
}

BODY(held_by_children, struct guarded *g)
{
	ivl_interval *holder = make(self, "h", inside_holds, g);
	ivl_interval *child, *other = make(self, "o", does_not_hold, g);

	CHECK(!ivl_holds(g->guard[0]));
	guard(holder, g->guard[0]);
	child = make(holder, "c", holds_too, g);
	CHECK(ivl_add_guard(holder, g->guard[1]) == EBUSY);
	ivl_schedule();
	CHECK(ivl_add_guard(other, g->guard[0]) == EALREADY);
	RELEASE(holder, child, other);
	return 0;
}

TEST(subintervals_hold_what_is_around_them)
{
	struct guarded g;

	setup_guards(&g);
	assert_int_equal(test_run(held_by_children, &g), 0);
	assert_true(ran(&g.trace, 'c'));
	assert_false(ivl_holds(g.guard[0]));
	release_guards(&g);
}

/* a holds the first and makes a2, which takes the second; b takes both. */
BODY(makes_a2, struct guarded *g)
{
	ivl_interval *a2 = make(self, "2", note, &g->trace);

	guard(a2, g->guard[1]);
	ivl_release(a2);
	return note(self, &g->trace);
}

BODY(nested_order, struct guarded *g)
{
	ivl_interval *a = make(self, "a", makes_a2, g), *b = make(self, "b", note, &g->trace);

	guard(a, g->guard[0]);
	edge(START(a), START(b));
	guard(b, g->guard[0]);
	guard(b, g->guard[1]);
	RELEASE(a, b);
	return 0;
}

BODY(makes_out_of_order, struct guarded *g)
{
	ivl_interval *in = make(self, "i", note, &g->trace), *in2;

	CHECK(ivl_add_guard(in, g->guard[0]) == EDEADLK);
	CHECK(strstr(ivl_last_error(), "guard first of i: "));
	guard(in, g->guard[1]);
	guard(in, g->guard[2]);
	/* A descendant of a holder may take the same guard. */
	in2 = make(in, "j", note, &g->trace);
	guard(in2, g->guard[1]);
	RELEASE(in, in2);
	return 0;
}

BODY(out_of_order, struct guarded *g)
{
	ivl_interval *a = make(self, "a", makes_out_of_order, g);

	guard(a, g->guard[1]);
	ivl_release(a);
	return 0;
}

TEST(guards_are_taken_in_their_order)
{
	struct guarded g;

	for (int round = 0; round < 300; round++) {
		setup_guards(&g);
		assert_int_equal(test_run(nested_order, &g), 0);
		assert_int_equal(g.trace.count, 3);
		assert_true(ran_before(&g.trace, 'a', 'b'));
		assert_true(ran_before(&g.trace, '2', 'b'));
		release_guards(&g);
	}
	setup_guards(&g);
	assert_int_equal(test_run(out_of_order, &g), 0);
	assert_int_equal(g.trace.count, 2);
	release_guards(&g);
}

/* The holder joins as many intervals as wait for the guard: no waiter may occupy a worker. */
BODY(joins_others, struct guarded *g)
{
	enter(g, 0);
	for (int i = 0; i < 20; i++) {
		ivl_interval *other = make(self, "o", note, &g->trace);

		ivl_schedule();
		CHECK(ivl_join(END(other)) == 0);
		ivl_release(other);
	}
	leave(g, 0);
	return 0;
}

BODY(crowd, struct guarded *g)
{
	for (int i = 0; i < 10; i++) {
		ivl_interval *interval = make(self, "w", joins_others, g);

		guard(interval, g->guard[0]);
		ivl_release(interval);
	}
	return 0;
}

TEST(waiting_for_a_guard_holds_no_worker)
{
	struct guarded g;

	for (int round = 0; round < 20; round++) {
		setup_guards(&g);
		assert_int_equal(test_run(crowd, &g), 0);
		assert_int_equal(g.trace.count, 200);
		release_guards(&g);
	}
}

static int fails(ivl_interval *self, void *arg)
{
	return EIO;
}

/* A skipped interval takes no guard; a failing one releases its guard. */
BODY(with_errors, struct guarded *g)
{
	ivl_interval *bad = make(self, "!", fails, NULL), *skipped = make(self, "s", fails, NULL);
	ivl_interval *cancelled = make(self, "c", fails, NULL);
	ivl_interval *other = make(self, "o", inside_holds, g);

	guard(bad, g->guard[0]);
	guard(skipped, g->guard[0]);
	guard(skipped, g->guard[1]);
	guard(cancelled, g->guard[0]);
	guard(other, g->guard[0]);
	before(bad, skipped);
	ivl_cancel(cancelled);
	RELEASE(bad, skipped, cancelled, other);
	return 0;
}

TEST(guards_survive_errors)
{
	struct guarded g;

	for (int round = 0; round < 300; round++) {
		setup_guards(&g);
		assert_int_equal(test_run(with_errors, &g), EIO);
		assert_int_equal(g.trace.count, 1);
		assert_int_equal(test_run(with_errors, &g), EIO);
		release_guards(&g);
	}
}

/* The maker's reference may go while the guard is held. */
BODY(releases_early, struct trace *trace)
{
	ivl_guard *own = ivl_guard_create(test_runtime, NULL);

	for (int i = 0; i < 10; i++) {
		ivl_interval *interval = make(self, "x", note, trace);

		guard(interval, own);
		ivl_release(interval);
	}
	ivl_guard_release(own);
	return 0;
}

TEST(guards_live_as_long_as_they_are_held)
{
	struct trace trace = { 0 };

	assert_int_equal(test_run(releases_early, &trace), 0);
	assert_int_equal(trace.count, 10);
}

static int write_nothing(ivl_interval *self, void *arg)
{
	return 0;
}

/* Two guards, named in either order. */
BODY(isolated_part, struct guarded *g)
{
	enter(g, 0);
	enter(g, 1);
	g->count++;
	leave(g, 1);
	leave(g, 0);
	return g->count % 100 == 50 ? EIO : 0;
}

static int fails_isolated;

static void isolate(size_t begin, size_t end, void *arg)
{
	struct guarded *g = arg;
	ivl_guard *backwards[] = { g->guard[1], g->guard[0] };

	for (; begin < end; begin++) {
		int error = ivl_isolated(begin % 2 ? g->guard : backwards, 2, isolated_part, g);

		CHECK(!error || error == EIO);
		__atomic_fetch_add(&fails_isolated, error == EIO, __ATOMIC_RELAXED);
		CHECK(!ivl_holds(g->guard[0]));
	}
}

BODY(isolated_inside, struct guarded *g)
{
	int count = g->count;

	/* The caller holds the second guard, so it cannot wait for the first. */
	CHECK(ivl_isolated(g->guard, 1, isolated_part, g) == EDEADLK);
	CHECK(g->count == count);
	/* Takes the caller's guard again. */
	CHECK(ivl_isolated(&g->guard[1], 1, write_nothing, NULL) == 0);
	return 0;
}

BODY(isolates, struct guarded *g)
{
	fails_isolated = 0;
	ivl_parallel_for(0, 400, 1, isolate, g);
	CHECK(g->count == 400);
	CHECK(fails_isolated == 4);
	CHECK(ivl_isolated(&g->guard[1], 1, isolated_inside, g) == 0);
	CHECK(ivl_isolated(NULL, 0, write_nothing, NULL) == 0);
	return 0;
}

TEST(isolated_regions_exclude_each_other)
{
	struct guarded g;

	setup_guards(&g);
	assert_int_equal(test_run(isolates, &g), 0);
	assert_int_equal(test_failures, 0);
	assert_int_equal(ivl_isolated(g.guard, 1, isolated_part, &g), EINVAL);
	release_guards(&g);
}

TEST_MAIN(test_start, test_stop)
