// SPDX-License-Identifier: LGPL-2.1-or-later
/* Commutative reducers: no addition is lost, and no two tasks add to one view at a time. */
#include "test_runtimes.h"

#include "intervals_algorithms.h"
#include "test_allocation.h"

/* Larger than a cache line, and not atomic: two writers would lose updates. */
struct tally {
	long count, sum, most;
	char filler[100];
};

static const struct tally nothing = { 0, 0, -1, { 0 } };

static void join(void *sum, const void *view, void *arg)
{
	struct tally *all = sum;
	const struct tally *more = view;

	all->count += more->count;
	all->sum += more->sum;
	if (more->most > all->most)
		all->most = more->most;
	++*(int *)arg;
}

static bool add(ivl_commutative *reducer, long value)
{
	struct tally *own = ivl_commutative_view(reducer);

	if (!own)
		return false;
	own->count++;
	own->sum += value;
	if (value > own->most)
		own->most = value;
	return true;
}

/* With a FIFO queue a whole loop waits at once; ThreadSanitizer has at most 8128 fibers. */
#define VALUES 1000

static void add_range(size_t begin, size_t end, void *arg)
{
	for (; begin < end; begin++)
		if (!add(arg, (long)begin))
			abort();
}

struct one {
	ivl_commutative *reducer;
	long value;
};

TASK(add_async, struct one *one)
{
	if (!add(one->reducer, one->value))
		abort();
}

static void begin_asyncs(void *arg)
{
	for (long i = 0; i < VALUES; i++) {
		struct one one = { arg, VALUES + i };

		if (ivl_async(add_async, &one, sizeof(one), NULL))
			abort();
	}
}

static int add_all(ivl_interval *self, void *arg)
{
	ivl_parallel_for(0, VALUES, 1, add_range, arg);
	return ivl_finish(begin_asyncs, arg);
}

struct caller {
	ivl_runtime *runtime;
	ivl_commutative *reducer;
	test_enter *run;
	int error;
};

THREAD(call, struct caller *caller)
{
	caller->error = caller->run(caller->runtime, add_all, caller->reducer);
}

TEST_ON_ALL(all)
{
	struct caller callers[3] = { { .run = ivl_run }, { .run = ivl_run_here },
				     { .run = ivl_run_here } };
	const long all = 2L * VALUES, threads = 3;
	ivl_commutative *reducer;
	struct tally sum = nothing;
	pthread_t ids[3];
	int views = 0;

	assert_int_equal(ivl_commutative_create(runtime, sizeof(sum), &nothing, &reducer), 0);
	for (int i = 0; i < threads; i++) {
		callers[i].runtime = runtime;
		callers[i].reducer = reducer;
		pthread_create(&ids[i], NULL, call, &callers[i]);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		assert_int_equal(callers[i].error, 0);
	}
	ivl_commutative_read(reducer, &sum, join, &views);
	assert_int_equal(sum.count, threads * all);
	assert_int_equal(sum.sum, threads * all * (all - 1) / 2);
	assert_int_equal(sum.most, all - 1);
	assert_in_range(views, ivl_worker_count(runtime), ivl_worker_count(runtime) + 2);
	/* The views stay. */
	ivl_commutative_read(reducer, &sum, join, &views);
	assert_int_equal(sum.count, 2 * threads * all);
	ivl_commutative_destroy(reducer);
}

static int add_one(ivl_interval *self, void *arg)
{
	return add(arg, 1) ? 0 : ivl_commutative_view(arg) ? EPROTO : EINVAL;
}

TEST(whose)
{
	TEST_WORKERS(runtime, 1);
	TEST_WORKERS(other, 1);
	ivl_commutative *reducer;

	assert_int_equal(ivl_commutative_create(runtime, sizeof(nothing), &nothing, &reducer), 0);
	assert_null(ivl_commutative_view(reducer));
	assert_string_equal(ivl_last_error(),
			    "commutative_view: the caller is not a task of its runtime");
	assert_int_equal(ivl_run(other, add_one, reducer), EINVAL);
	assert_int_equal(ivl_run(runtime, add_one, reducer), 0);
	ivl_commutative_destroy(reducer);
}

/* The caller becomes an external worker, which needs memory. */
static int add_without_memory(ivl_interval *self, void *arg)
{
	bool added;

	test_allocations_left = 0;
	added = add(arg, 1);
	test_allocations_left = -1;
	return added || !strstr(ivl_last_error(), "out of memory") ? EPROTO :
	       add(arg, 1) ? 0 : ENOMEM;
}

TEST(without_memory)
{
	TEST_WORKERS(runtime, 2);
	ivl_commutative *reducer;
	int error = ENOMEM, views = 0;
	struct tally sum = nothing;

	for (int allocations = 0; error; allocations++) {
		test_allocations_left = allocations;
		error = ivl_commutative_create(runtime, sizeof(nothing), &nothing, &reducer);
		test_allocations_left = -1;
		assert_true(error == (allocations < 2 ? ENOMEM : 0));
	}
	assert_int_equal(ivl_run_here(runtime, add_without_memory, reducer), 0);
	ivl_commutative_read(reducer, &sum, join, &views);
	assert_int_equal(sum.count, 1);
	assert_int_equal(views, 3);
	ivl_commutative_destroy(reducer);
}

TEST_MAIN(NULL, NULL)
