// SPDX-License-Identifier: LGPL-2.1-or-later
/* Errors and cancellation: which intervals do not run, and which callers get the error. */
#include "test_model.h"

static int fails(ivl_interval *self, void *arg)
{
	return EIO;
}

OK_BODY(child_fails, void *arg)
{
	ivl_release(make(self, "failing", fails, NULL));
}

OK_BODY(grandchild_fails, void *arg)
{
	ivl_release(make(self, "parent", child_fails, NULL));
}

TEST(errors_go_up)
{
	assert_int_equal(run_body(fails, NULL), EIO);
	assert_int_equal(run_body(child_fails, NULL), EIO);
	assert_int_equal(run_body(grandchild_fails, NULL), EIO);
}

TEST_RUNS(dependents_do_not_run, EIO, "z")
{
	OWNED *bad = make(self, "!", fails, NULL), *x = make(self, "x", note, trace);
	OWNED *y = make(self, "y", note, trace), *in = make(y, "i", note, trace);
	OWNED *z = make(self, "z", note, trace);

	before(bad, x);
	before(x, y);
	ivl_schedule();
	CHECK(ivl_join(END(bad)) == EIO);
	CHECK(ivl_join(START(bad)) == 0);
	CHECK(ivl_join(END(x)) == EIO);
	CHECK(ivl_join(START(y)) == EIO);
	CHECK(ivl_join(END(y)) == EIO);
	CHECK(ivl_join(END(in)) == EIO);
	CHECK(ivl_join(END(z)) == 0);
}

/* An error that reaches an end stops the intervals after it, not the interval itself. */
TEST_RUNS(errors_reach_ends, EIO, "xy")
{
	OWNED *bad = make(self, "!", fails, NULL), *x = make(self, "x", note, trace);
	OWNED *y = make(self, "y", note, trace), *z = make(self, "z", note, trace);

	before(x, z);
	edge(START(x), START(bad));
	edge(END(bad), END(x));
}

/*
 *	          |---x---| -> z
 *	! -------> |- y -|
 */
TEST_RUNS(errors_reach_what_is_around_their_target, EIO, "x")
{
	OWNED *bad = make(self, "!", fails, NULL), *x = make(self, "x", note, trace);
	OWNED *y = make(x, "y", note, trace), *z = make(self, "z", note, trace);

	before(bad, y);
	before(x, z);
}

/*
 * The common bound of source and target gets the error from the source only. The caller of an
 * inline interval handles its error: dependents do not run, and nothing else fails.
 */
struct bound {
	struct trace trace;
	ivl_interval *outer, *inner, *after, *inlined;
};

BODY(inline_fails, struct bound *bound)
{
	ivl_retain(self);
	bound->inlined = self;
	before(self, bound->inner);
	return EIO;
}

OK_BODY(up_to_the_bound, struct bound *bound)
{
	bound->outer = make(self, "o", note, &bound->trace);
	bound->inner = make(bound->outer, "i", note, &bound->trace);
	bound->after = make(self, "a", note, &bound->trace);
	before(bound->outer, bound->after);
	CHECK(ivl_inline("inlined", inline_fails, bound) == EIO);
	/* An edge from an interval that has failed. */
	ivl_schedule();
	CHECK(ivl_join(END(bound->inner)) == EIO);
	CHECK(ivl_join(END(bound->outer)) == EIO);
	CHECK(ivl_join(END(bound->after)) == EIO);
}

TEST(errors_stop_at_the_common_bound)
{
	for (int i = 0; i < 300; i++) {
		struct bound bound = { 0 };

		assert_int_equal(run_body(up_to_the_bound, &bound), 0);
		assert_int_equal(bound.trace.count, 1);
		assert_true(ran(&bound.trace, 'o'));
		RELEASE(bound.outer, bound.inner, bound.after, bound.inlined);
	}
}

/*
 * x gets an error that stops at the common bound, then an error of its own. It ends with the
 * first, and the bound must fail.
 */
OK_BODY(two_errors, struct bound *bound)
{
	ivl_interval *bad;

	bound->outer = make(self, "o", note, &bound->trace);
	bound->inner = make(bound->outer, "i", note, &bound->trace);
	bad = make(bound->outer, "!", fails, NULL);
	CHECK(ivl_inline("inlined", inline_fails, bound) == EIO);
	before(bound->inner, bad);
	ivl_release(bad);
	bad = make(bound->outer, "!", child_fails, NULL);
	edge(END(bound->inner), END(bad));
	ivl_release(bad);
}

TEST(the_farthest_error_counts)
{
	struct bound bound = { 0 };

	assert_int_equal(run_body(two_errors, &bound), EIO);
	RELEASE(bound.outer, bound.inner, bound.inlined);
}

/* A subinterval that is made after its parent was skipped does not run. */
OK_BODY(comes_late, struct bound *bound)
{
	test_yield_until(ivl_occurred(START(bound->outer)));
	ivl_release(make(bound->outer, "l", note, &bound->trace));
}

OK_BODY(makes_latecomer, struct bound *bound)
{
	OWNED *bad = make(self, "!", fails, NULL);
	OWNED *late;

	bound->outer = make(self, "o", note, &bound->trace);
	late = make(self, "late", comes_late, bound);
	before(bad, bound->outer);
	edge(END(late), END(bound->outer));
}

TEST(latecomers_do_not_run)
{
	struct bound bound = { 0 };

	/* Two workers, as `late` waits for the other. */
	if (ivl_worker_count(test_runtime) < 2)
		return;
	assert_int_equal(run_body(makes_latecomer, &bound), EIO);
	assert_int_equal(bound.trace.count, 0);
	ivl_release(bound.outer);
}

TEST_RUNS(errors_are_remembered, EIO, "")
{
	OWNED *bad = make(self, "!", fails, NULL), *late;

	ivl_schedule();
	CHECK(ivl_join(END(bad)) == EIO);
	late = make(self, "l", note, trace);
	before(bad, late);
}

static int fails_with_children(ivl_interval *self, void *trace)
{
	ivl_release(make(self, "a", note, trace));
	ivl_fail(ENOENT);
	CHECK(ivl_cancelled());
	ivl_release(make(self, "b", note, trace));
	/* The first error counts. */
	return EIO;
}

static int fails_at_an_edge(ivl_interval *self, void *trace)
{
	OWNED *a = make(self, "a", note, trace), *b = make(self, "b", note, trace);
	int error;

	before(a, b);
	error = ivl_add_edge(END(b), START(a));
	CHECK(error == EDEADLK);
	return error;
}

TEST(children_of_what_fails_do_not_run)
{
	struct trace trace = { 0 };

	assert_int_equal(run_body(fails_with_children, &trace), ENOENT);
	assert_int_equal(run_body(fails_at_an_edge, &trace), EDEADLK);
	assert_int_equal(trace.count, 0);
	ivl_fail(EIO);
	assert_false(ivl_cancelled());
}

TEST_RUNS(inline_errors_are_the_callers, EPIPE, "i")
{
	CHECK(ivl_inline("failing", fails, NULL) == EIO);
	CHECK(ivl_inline("child failing", child_fails, NULL) == EIO);
	CHECK(ivl_inline("i", note, trace) == 0);
	ivl_fail(EPIPE);
	CHECK(ivl_inline("j", note, trace) == EPIPE);
}

OK_BODY(launch_children, void *trace)
{
	ivl_interval *failing = ivl_launch("failing", fails, NULL, NULL);
	ivl_interval *good = ivl_launch("good", note, trace, NULL);
	/* Not scheduled by it. */
	ivl_interval *later = ivl_create(self, "later", note, trace, NULL);

	CHECK(ivl_join(ivl_end_point(failing)) == EIO);
	CHECK(ivl_join(ivl_end_point(good)) == 0);
	CHECK(ivl_parent(good) == self);
	CHECK(!ivl_occurred(ivl_start_point(later)));
	CHECK(((struct trace *)trace)->count == 1);
	/* It may have started. */
	CHECK(ivl_add_edge(ivl_end_point(later), ivl_start_point(good)) == EALREADY);
	RELEASE(failing, good, later);
	/* Only its parent's end waits for this one. */
	ivl_release(ivl_launch("unasked", note, trace, NULL));
}

TEST(launched_errors_are_the_joiners)
{
	struct trace trace = { 0 };

	assert_int_equal(run_body(launch_children, &trace), 0);
	assert_int_equal(trace.count, 3);
	assert_null(ivl_launch("outside", note, &trace, NULL));
	assert_string_equal(ivl_last_error(), "launch outside: not inside an interval");
}

#define LONG 200000

/* The length of a chain needs no stack. */
OK_BODY(long_chain, void *trace)
{
	OWNED *last = make(self, "!", fails, NULL);

	for (int i = 0; i < LONG; i++) {
		ivl_interval *next = make(self, NULL, note, trace);

		before(last, next);
		ivl_release(last);
		last = next;
	}
}

OK_BODY(deep, void *trace)
{
	ivl_interval *bad = make(self, "!", fails, NULL), *last = make(self, "d", note, trace);

	before(bad, last);
	ivl_release(bad);
	for (int i = 0; i < LONG; i++) {
		ivl_interval *next = make(last, NULL, note, trace);

		ivl_release(last);
		last = next;
	}
	ivl_schedule();
	ivl_join(END(last));
	/* The last one keeps them all. */
	ivl_release(last);
}

TEST(long_chains_fail)
{
	struct trace trace = { 0 };

	assert_int_equal(run_body(long_chain, &trace), EIO);
	assert_int_equal(run_body(deep, &trace), EIO);
	assert_int_equal(trace.count, 0);
}

/* Cancellation. */

OK_BODY(cancels, void *trace)
{
	OWNED *a = make(self, "a", note, trace), *in = make(a, "i", note, trace);
	OWNED *b = make(self, "b", note, trace), *c = make(self, "c", note, trace);
	OWNED *d = make(self, "d", note, trace);

	before(a, b);
	edge(START(a), START(d));
	ivl_cancel(a);
	ivl_schedule();
	CHECK(ivl_join(START(a)) == ECANCELED);
	CHECK(ivl_join(END(a)) == ECANCELED);
	CHECK(ivl_join(END(d)) == ECANCELED);
	CHECK(ivl_join(END(in)) == ECANCELED);
	CHECK(ivl_join(END(b)) == ECANCELED);
	CHECK(ivl_join(END(c)) == 0);
	CHECK(!ivl_cancelled());
	/* An interval that has ended does not change. */
	ivl_cancel(c);
	CHECK(ivl_join(END(c)) == 0);
}

OK_BODY(cancels_itself, void *arg)
{
	ivl_cancel(self);
}

TEST(cancelled_intervals_do_not_run)
{
	/* Their parent does not fail. */
	runs(cancels, 0, "c");
	assert_int_equal(run_body(cancels_itself, NULL), ECANCELED);
}

static _Atomic bool parent_cancelled;

static int fails_late(ivl_interval *self, void *arg)
{
	while (!atomic_load(&parent_cancelled))
		;
	return EIO;
}

static int cancels_itself_and_fails(ivl_interval *self, void *how)
{
	if (how) {
		ivl_interval *child = ivl_create(self, "late", fails_late, NULL, NULL);

		ivl_schedule();
		CHECK(ivl_join(START(child)) == 0);
		ivl_release(child);
	}
	ivl_cancel(self);
	atomic_store(&parent_cancelled, true);
	ivl_fail(EPERM);
	return EIO;
}

OK_BODY(joins_what_fails_late, void *how)
{
	atomic_store(&parent_cancelled, false);
	CHECK(ivl_inline(NULL, cancels_itself_and_fails, how) == ECANCELED);
}

/* Errors of the interval and of its children. */
TEST(later_errors_are_forgotten)
{
	assert_int_equal(run_body(joins_what_fails_late, NULL), 0);
	assert_int_equal(run_body(joins_what_fails_late, state), 0);
}

static int notices(ivl_interval *self, void *trace)
{
	ivl_release(make(self, "b", note, trace));
	CHECK(!ivl_cancelled());
	ivl_cancel(ivl_parent(self));
	CHECK(ivl_cancelled());
	ivl_release(make(self, "a", note, trace));
	return EINTR;
}

OK_BODY(around_notices, void *trace)
{
	ivl_release(make(self, "n", notices, trace));
}

/* No error leaves a cancelled interval. */
TEST_RUNS(running_intervals_notice, 0, "")
{
	OWNED *around = make(self, "around", around_notices, trace);

	ivl_schedule();
	CHECK(ivl_join(END(around)) == ECANCELED);
}

struct many {
	_Atomic int ran;
	_Atomic(ivl_interval *) all;
};

OK_BODY(one_of_many, struct many *many)
{
	if (atomic_fetch_add(&many->ran, 1) == 100)
		ivl_cancel(atomic_load(&many->all));
}

OK_BODY(make_many, struct many *many)
{
	atomic_store(&many->all, self);
	for (int i = 0; i < 10000; i++)
		ivl_release(make(self, NULL, one_of_many, many));
}

THREAD(cancel_from_outside, struct many *many)
{
	OWNED *all;

	test_yield_until((all = atomic_load(&many->all)));
	ivl_cancel(all);
	/* A foreign thread may join, too. */
	CHECK(ivl_join(END(all)) == ECANCELED);
}

OK_BODY(counts, struct many *many)
{
	atomic_fetch_add(&many->ran, 1);
}

OK_BODY(make_for_outside, struct many *many)
{
	ivl_retain(self);
	atomic_store(&many->all, self);
	test_yield_until(ivl_cancelled());
	for (int i = 0; i < 100; i++)
		ivl_release(make(self, NULL, counts, many));
}

TEST(many_are_cancelled)
{
	struct many many = { 0 }, other = { 0 };
	pthread_t thread;

	assert_int_equal(run_body(make_many, &many), ECANCELED);
	assert_in_range(many.ran, 101, 9999);

	assert_int_equal(pthread_create(&thread, NULL, cancel_from_outside, &other), 0);
	assert_int_equal(run_body(make_for_outside, &other), ECANCELED);
	pthread_join(thread, NULL);
	assert_int_equal(other.ran, 0);
	checks_held();
}

/* An interval fails while it is cancelled: its parent gets EIO or no error. */
struct failing {
	ivl_interval *child;
	_Atomic(ivl_interval *) victim;
	_Atomic bool go;
	_Atomic int delay;
	bool over;
};

static void spin(int turns)
{
	for (volatile int i = 0; i < turns; i++)
		;
}

BODY(fails_soon, struct failing *failing)
{
	test_yield_until(atomic_load(&failing->go));
	spin(atomic_load(&failing->delay));
	return EIO;
}

OK_BODY(has_one_that_fails, struct failing *failing)
{
	failing->child = make(self, NULL, fails_soon, failing);
	atomic_store(&failing->victim, failing->child);
}

static void *cancel_failing(void *arg)
{
	struct failing *failing = arg;
	ivl_interval *victim;

	for (;;) {
		test_yield_until((victim = atomic_load(&failing->victim)));
		if (failing->over)
			return NULL;
		atomic_store(&failing->go, true);
		spin(100);
		ivl_cancel(victim);
		atomic_store(&failing->victim, NULL);
	}
}

OK_BODY(fail_and_cancel, struct failing *failing)
{
	for (int i = 0; i < 5000; i++) {
		int outer, inner;

		atomic_store(&failing->go, false);
		atomic_store(&failing->delay, i % 250);
		outer = ivl_inline(NULL, has_one_that_fails, failing);
		inner = ivl_join(END(failing->child));
		while (atomic_load(&failing->victim))
			sched_yield();
		ivl_release(failing->child);
		CHECK(inner == EIO || inner == ECANCELED);
		CHECK(!outer || (outer == EIO && inner == EIO));
		if (atomic_load(&test_failures))
			break;
	}
	failing->over = true;
	atomic_store(&failing->victim, failing->child);
}

TEST(parents_do_not_hear_of_cancelling)
{
	struct failing failing = { 0 };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, cancel_failing, &failing), 0);
	run_body(fail_and_cancel, &failing);
	pthread_join(thread, NULL);
	checks_held();
}

/* A distant ancestor is cancelled, and unrelated intervals: new descendants do not run. */
struct far {
	int level, levels, cancelled, others;
	ivl_interval *root;
	_Atomic bool ran;
};

OK_BODY(ran_inside, void *arg)
{
	atomic_store(&((struct far *)arg)->ran, true);
}

BODY(cancel_far, struct far *far)
{
	ivl_interval *outer = self;

	if (++far->level < far->levels) {
		ivl_release(make(self, "l", cancel_far, far));
		return 0;
	}
	for (int i = 0; i < far->levels - far->cancelled; i++)
		outer = ivl_parent(outer);
	if (far->cancelled)
		ivl_cancel(outer);
	for (int i = 0; i < far->others; i++) {
		ivl_interval *other = make(i % 2 ? self : far->root, "o", NULL, NULL);

		ivl_cancel(other);
		ivl_release(other);
	}
	ivl_release(make(self, "i", ran_inside, far));
	ivl_schedule();
	return 0;
}

BODY(try_far, struct far *far)
{
	far->root = self;
	return ivl_inline("levels", cancel_far, far);
}

TEST(what_is_far_around_is_cancelled)
{
	static const int others[] = { 0, 1, 5, 300, 1000 };

	for (int cancelled = 0; cancelled <= 40; cancelled++) {
		for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
			struct far far = { .levels = 40, .cancelled = cancelled, .others = others[i] };

			run_body(try_far, &far);
			assert_int_equal(atomic_load(&far.ran), !cancelled);
		}
	}
}

TEST_MAIN(model_start, model_stop)
