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

/* A test that runs this often, each time with a fresh `g`. */
#define TEST_GUARDS(name, rounds) \
	static void name(struct guarded *g); \
	TEST(name) \
	{ \
		for (int round = 0; round < (rounds); round++) \
			with_guards(name); \
	} \
	static void name(struct guarded *g)

static void with_guards(void (*test)(struct guarded *g))
{
	static struct guarded g;

	memset(&g, 0, sizeof(g));
	for (int i = 0; i < 3; i++) {
		g.guard[i] = ivl_guard_create(test_runtime, i ? "later" : "first");
		assert_non_null(g.guard[i]);
	}
	test(&g);
	for (int i = 0; i < 3; i++)
		ivl_guard_release(g.guard[i]);
}

static void guard(ivl_interval *interval, ivl_guard *guard)
{
	CHECK(ivl_add_guard(interval, guard) == 0);
}

/* A child of `parent` that needs the guard. */
static void make_guarded(ivl_interval *parent, const char *name, ivl_body *body, void *arg,
			 ivl_guard *needed)
{
	OWNED *made = make(parent, name, body, arg);

	guard(made, needed);
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

OK_BODY(write_number, struct numbered *n)
{
	enter(n->g, 0);
	n->g->order[n->g->count++] = n->number;
	leave(n->g, 0);
}

OK_BODY(in_order, struct guarded *g)
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
}

TEST_GUARDS(guards_are_given_in_order, 10)
{
	assert_int_equal(run_body(in_order, g), 0);
	for (int i = 0; i < 4000; i++)
		assert_int_equal(g->order[i], i);
}

/* All pairs of three guards, added in all orders: no two wait for each other. */
OK_BODY(two_guards, struct guarded *g)
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
}

OK_BODY(philosophers, struct guarded *g)
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
}

TEST_GUARDS(several_guards_do_not_deadlock, 10)
{
	assert_int_equal(run_body(philosophers, g), 0);
	assert_int_equal(g->trace.count, 3000);
}

BODY(note_holding, struct guarded *g)
{
	CHECK(ivl_holds(g->guard[0]));
	return note(self, &g->trace);
}

/* Subintervals take their parent's guard again, and exclude each other. */
OK_BODY(recursive, struct guarded *g)
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
}

TEST_GUARDS(guards_nest, 300)
{
	char order[7] = "";

	assert_int_equal(run_body(recursive, g), 0);
	assert_int_equal(g->trace.count, 6);
	/* The descendants of b, then of e, or the reverse; a runs in parallel. */
	for (int i = 0, n = 0; i < 6; i++)
		if (g->trace.who[i] != 'a')
			order[n++] = strchr("bcd", g->trace.who[i]) ? 'b' : 'e';
	assert_true(!strcmp(order, "bbbee") || !strcmp(order, "eebbb"));
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

OK_BODY(does_not_hold, struct guarded *g)
{
	CHECK(!ivl_holds(g->guard[0]));
}

OK_BODY(held_by_children, struct guarded *g)
{
	OWNED *holder = make(self, "h", inside_holds, g);
	OWNED *child, *other = make(self, "o", does_not_hold, g);

	CHECK(!ivl_holds(g->guard[0]));
	guard(holder, g->guard[0]);
	child = make(holder, "c", holds_too, g);
	CHECK(ivl_add_guard(holder, g->guard[1]) == EBUSY);
	ivl_schedule();
	CHECK(ivl_add_guard(other, g->guard[0]) == EALREADY);
}

TEST_GUARDS(subintervals_hold_what_is_around_them, 1)
{
	assert_int_equal(run_body(held_by_children, g), 0);
	assert_true(ran(&g->trace, 'c'));
	assert_false(ivl_holds(g->guard[0]));
}

/* a holds the first and makes a2, which takes the second; b takes both. */
BODY(makes_a2, struct guarded *g)
{
	make_guarded(self, "2", note, &g->trace, g->guard[1]);
	return note(self, &g->trace);
}

OK_BODY(nested_order, struct guarded *g)
{
	OWNED *a = make(self, "a", makes_a2, g), *b = make(self, "b", note, &g->trace);

	guard(a, g->guard[0]);
	edge(START(a), START(b));
	guard(b, g->guard[0]);
	guard(b, g->guard[1]);
}

OK_BODY(makes_out_of_order, struct guarded *g)
{
	OWNED *in = make(self, "i", note, &g->trace), *in2;

	CHECK(ivl_add_guard(in, g->guard[0]) == EDEADLK);
	CHECK(strstr(ivl_last_error(), "guard first of i: "));
	guard(in, g->guard[1]);
	guard(in, g->guard[2]);
	/* A descendant of a holder may take the same guard. */
	in2 = make(in, "j", note, &g->trace);
	guard(in2, g->guard[1]);
}

OK_BODY(out_of_order, struct guarded *g)
{
	make_guarded(self, "a", makes_out_of_order, g, g->guard[1]);
}

TEST_GUARDS(guards_are_taken_in_their_order, 300)
{
	assert_int_equal(run_body(nested_order, g), 0);
	assert_int_equal(g->trace.count, 3);
	assert_true(ran_before(&g->trace, 'a', 'b'));
	assert_true(ran_before(&g->trace, '2', 'b'));
}

TEST_GUARDS(guards_out_of_their_order_are_refused, 1)
{
	assert_int_equal(run_body(out_of_order, g), 0);
	assert_int_equal(g->trace.count, 2);
}

/* The holder joins as many intervals as wait for the guard: no waiter may occupy a worker. */
OK_BODY(joins_others, struct guarded *g)
{
	enter(g, 0);
	for (int i = 0; i < 20; i++) {
		ivl_interval *other = make(self, "o", note, &g->trace);

		ivl_schedule();
		CHECK(ivl_join(END(other)) == 0);
		ivl_release(other);
	}
	leave(g, 0);
}

OK_BODY(crowd, struct guarded *g)
{
	for (int i = 0; i < 10; i++)
		make_guarded(self, "w", joins_others, g, g->guard[0]);
}

TEST_GUARDS(waiting_for_a_guard_holds_no_worker, 20)
{
	assert_int_equal(run_body(crowd, g), 0);
	assert_int_equal(g->trace.count, 200);
}

static int fails(ivl_interval *self, void *arg)
{
	return EIO;
}

/* A skipped interval takes no guard; a failing one releases its guard. */
OK_BODY(with_errors, struct guarded *g)
{
	OWNED *bad = make(self, "!", fails, NULL), *skipped = make(self, "s", fails, NULL);
	OWNED *cancelled = make(self, "c", fails, NULL);
	OWNED *other = make(self, "o", inside_holds, g);

	guard(bad, g->guard[0]);
	guard(skipped, g->guard[0]);
	guard(skipped, g->guard[1]);
	guard(cancelled, g->guard[0]);
	guard(other, g->guard[0]);
	before(bad, skipped);
	ivl_cancel(cancelled);
}

TEST_GUARDS(guards_survive_errors, 300)
{
	assert_int_equal(run_body(with_errors, g), EIO);
	assert_int_equal(g->trace.count, 1);
	assert_int_equal(run_body(with_errors, g), EIO);
}

/* The maker's reference may go while the guard is held. */
OK_BODY(releases_early, struct trace *trace)
{
	ivl_guard *own = ivl_guard_create(test_runtime, NULL);

	for (int i = 0; i < 10; i++)
		make_guarded(self, "x", note, trace, own);
	ivl_guard_release(own);
}

TEST(guards_live_as_long_as_they_are_held)
{
	struct trace trace = { 0 };

	assert_int_equal(run_body(releases_early, &trace), 0);
	assert_int_equal(trace.count, 10);
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

OK_BODY(isolated_inside, struct guarded *g)
{
	int count = g->count;

	/* The caller holds the second guard, so it cannot wait for the first. */
	CHECK(ivl_isolated(g->guard, 1, isolated_part, g) == EDEADLK);
	CHECK(g->count == count);
	/* Takes the caller's guard again. */
	CHECK(ivl_isolated(&g->guard[1], 1, test_nothing, NULL) == 0);
}

OK_BODY(isolates, struct guarded *g)
{
	fails_isolated = 0;
	ivl_parallel_for(0, 400, 1, isolate, g);
	CHECK(g->count == 400);
	CHECK(fails_isolated == 4);
	CHECK(ivl_isolated(&g->guard[1], 1, isolated_inside, g) == 0);
	CHECK(ivl_isolated(NULL, 0, test_nothing, NULL) == 0);
}

TEST_GUARDS(isolated_regions_exclude_each_other, 1)
{
	assert_int_equal(run_body(isolates, g), 0);
	assert_int_equal(ivl_isolated(g->guard, 1, isolated_part, g), EINVAL);
}

TEST_MAIN(model_start, model_stop)
