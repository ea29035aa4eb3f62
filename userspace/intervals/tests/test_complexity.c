// SPDX-License-Identifier: LGPL-2.1-or-later
/* Costs must not grow with the square of a program's size. */
#include "test_runtimes.h"

#include <time.h>

#include "model.h"

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* CPU time of body(&count). */
static double cost(ivl_body *body, int count, unsigned int workers)
{
	TEST_WORKERS(runtime, workers);
	const double before = cpu_seconds();

	test_run(runtime, body, &count);
	return cpu_seconds() - before;
}

/* Four times as much takes about four times as long, and not sixteen. */
static void check_growth(ivl_body *body)
{
	const int small = TEST_SLOW ? 2500 : 5000;

	test_on_counts(workers) {
		double one = cost(body, small, workers), four = cost(body, 4 * small, workers);

		print_message("# %u workers: %.4f s, four times as much: %.4f s\n", workers, one,
			      four);
		assert_true(four < 8 * one + (TEST_SLOW ? 0.2 : 0.05));
	}
}

/* Nested intervals while another interval is cancelled. */
static int level(ivl_interval *self, void *arg)
{
	if (!--*(int *)arg)
		return 0;
	ivl_release(ivl_create(self, NULL, level, arg, NULL));
	return 0;
}

static int one_cancelled(ivl_interval *self, void *arg)
{
	ivl_interval *other = ivl_create(self, NULL, level, arg, NULL);
	ivl_interval *levels = ivl_create(self, NULL, level, arg, NULL);
	int error;

	ivl_cancel(other);
	ivl_schedule();
	error = ivl_join(ivl_end_point(levels));
	ivl_release(levels);
	ivl_release(other);
	return error;
}

TEST(unrelated_cancel)
{
	check_growth(one_cancelled);
}

/* As before, and at each level another one is cancelled: where that is, and how many. */
struct cancels {
	int *left;
	bool at_the_root, with_a_child;
	int each;
	ivl_interval *root;
};

BODY(cancel_at_each, struct cancels *cancels)
{
	if (!--*cancels->left)
		return 0;
	for (int i = 0; i < cancels->each; i++) {
		ivl_interval *around = cancels->at_the_root ? cancels->root : self;
		ivl_interval *other = ivl_create(around, NULL, NULL, NULL, NULL);

		if (cancels->with_a_child)
			ivl_release(ivl_create(other, NULL, NULL, NULL, NULL));
		ivl_cancel(other);
		ivl_release(other);
	}
	ivl_release(ivl_create(self, NULL, cancel_at_each, cancels, NULL));
	return 0;
}

static int cancel_with(ivl_interval *self, struct cancels cancels)
{
	ivl_interval *levels;
	int error;

	cancels.root = self;
	levels = ivl_create(self, NULL, cancel_at_each, &cancels, NULL);
	ivl_schedule();
	error = ivl_join(ivl_end_point(levels));
	ivl_release(levels);
	return error;
}

#define CANCELS(name, ...) \
	static int name(ivl_interval *self, void *arg) \
	{ \
		return cancel_with(self, (struct cancels){ .left = arg, __VA_ARGS__ }); \
	}
CANCELS(cancel_here, .each = 1)
CANCELS(cancel_with_a_child, .each = 1, .with_a_child = true)
CANCELS(cancel_at_the_root, .each = 1, .at_the_root = true)
CANCELS(cancel_several, .each = 20)

TEST(cancel_at_each_level)
{
	check_growth(cancel_here);
	check_growth(cancel_with_a_child);
	check_growth(cancel_at_the_root);
	check_growth(cancel_several);
}

/* A chain of edges, added from its end to its beginning. */
static int back_to_front(ivl_interval *self, void *arg)
{
	const int count = *(int *)arg;
	ivl_interval *after = NULL;
	int error = 0;

	for (int i = 0; i < count && !error; i++) {
		ivl_interval *made = ivl_create(self, NULL, NULL, NULL, NULL);

		if (after) {
			error = ivl_add_edge(ivl_end_point(made), ivl_start_point(after));
			ivl_release(after);
		}
		after = made;
	}
	ivl_release(after);
	return error;
}

TEST(back_to_front)
{
	check_growth(back_to_front);
}

/* Searches for a path that find none do not wait for each other. */

struct searches {
	_Atomic bool done;
	int error;
};

OK_BODY(search_long, struct searches *searches)
{
	ivl_interval *made[4];

	for (int i = 0; i < 4; i++)
		made[i] = ivl_create(self, NULL, NULL, NULL, NULL);
	searches->error = ivl_add_edge(ivl_end_point(made[0]), ivl_start_point(made[1]));
	if (!searches->error)
		searches->error = ivl_add_edge(ivl_end_point(made[2]), ivl_start_point(made[3]));
	/* An edge leads away from its target, and one to its source. */
	if (!searches->error)
		searches->error = ivl_add_edge(ivl_end_point(made[1]), ivl_start_point(made[2]));
	atomic_store(&searches->done, true);
	for (int i = 0; i < 4; i++)
		ivl_release(made[i]);
}

struct run {
	ivl_runtime *runtime;
	struct searches *searches;
};

THREAD(run_searches, struct run *run)
{
	test_run(run->runtime, search_long, run->searches);
}

TEST(searches_together)
{
	test_on_counts(workers) {
		TEST_WORKERS(runtime, workers);
		struct searches searches = { 0 };
		struct run run = { runtime, &searches };
		struct ivl_model *model = *ivl_runtime_model(runtime);
		pthread_t thread;
		bool done;

		/* As a caller does that has found a cycle and not yet returned. */
		pthread_mutex_lock(&model->lock);
		assert_int_equal(pthread_create(&thread, NULL, run_searches, &run), 0);
		done = test_comes_true(atomic_load(&searches.done));
		pthread_mutex_unlock(&model->lock);
		pthread_join(thread, NULL);
		assert_true(done);
		assert_int_equal(searches.error, 0);
	}
}

TEST_MAIN(NULL, NULL)
