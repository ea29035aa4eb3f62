// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Every allocation fails in turn, with all after it. The caller gets ENOMEM; intervals made
 * before still run, and their memory is freed.
 */
#include "test_model.h"

#include "test_allocation.h"

char *__real_strdup(const char *string);
char *__wrap_strdup(const char *string);

char *__wrap_strdup(const char *string)
{
	return test_allocation_fails() ? NULL : __real_strdup(string);
}

#define SIZE 300

struct build {
	ivl_runtime *runtime;
	_Atomic int made, ran;
	bool told;			/* no memory */
};

OK_BODY(count, struct build *build)
{
	atomic_fetch_add(&build->ran, 1);
}

/* Was there memory? */
static bool told(struct build *build, int error)
{
	CHECK(!error || error == ENOMEM);
	if (error) {
		CHECK(strstr(ivl_last_error(), "out of memory"));
		build->told = true;
	}
	return !error;
}

/* Enough intervals and edges that several slabs of each are needed. */
OK_BODY(build_all, struct build *build)
{
	ivl_interval *all[SIZE];
	ivl_guard *guard = ivl_guard_create(build->runtime, "guard");
	int made = 0;

	build->told = !guard;
	while (made < SIZE && !build->told) {
		all[made] = ivl_create(self, made % 3 ? NULL : "named", count, build, NULL);
		if (!told(build, all[made] ? 0 : ENOMEM))
			break;
		made++;
		for (int i = 1; i < 8 && i < made; i++)
			if (!told(build, ivl_add_edge(END(all[made - 1 - i]),
						      START(all[made - 1]))))
				break;
		if (!build->told && made % 10 == 0)
			told(build, ivl_add_guard(all[made - 1], guard));
	}
	build->made = made;
	if (!build->told && told(build, ivl_inline("inline", count, build)))
		build->made++;
	for (int i = 0; i < made; i++)
		ivl_release(all[i]);
	if (guard)
		ivl_guard_release(guard);
}

static int build_with(int allocations, struct build *build)
{
	ivl_runtime *runtime = test_start(NULL);
	int error;

	*build = (struct build){ .runtime = runtime };
	test_allocations_left = allocations;
	error = ivl_run(runtime, build_all, build);
	test_allocations_left = -1;
	ivl_stop(runtime);
	checks_held();
	assert_int_equal(test_live_intervals, 0);
	assert_int_equal(test_live_edges, 0);
	return error;
}

TEST(every_allocation_fails)
{
	struct build build;
	int allocations = 0;

	for (;; allocations++) {
		int error = build_with(allocations, &build);

		if (error) {
			assert_int_equal(error, ENOMEM);
			assert_int_equal(build.made, 0);
			continue;
		}
		if (!build.told)
			break;
		assert_int_equal(build.ran, build.made);
	}
	assert_int_equal(build.made, SIZE + 1);
	assert_int_equal(build.ran, SIZE + 1);
	/* Names, guards and their holders, slabs: fewer failures would test too little. */
	assert_in_range(allocations, 50, 1000);
}

#define CROWD 1000
#define PLENTY 1000000

OK_BODY(crowd, void *arg)
{
	for (int i = 0; i < CROWD; i++)
		ivl_release(make(self, NULL, count, arg));
}

/* Memory does not grow with the number of intervals made and ended, on any worker. */
TEST(memory_is_used_again)
{
	struct build build = { 0 };
	TEST_RUNTIME(runtime, NULL);

	test_allocations_left = PLENTY;
	for (int i = 0; i < 200; i++)
		test_run(runtime, crowd, &build);
	/*
	 * Slabs of some 200: for all that are there at once, and two magazines a worker.
	 * And stacks.
	 */
	assert_in_range(PLENTY - test_allocations_left, CROWD / 210, 100);
	test_allocations_left = -1;
	assert_int_equal(build.ran, 200 * CROWD);
}

TEST(starting_fails)
{
	ivl_runtime *runtime;
	int allocations = 0, error;

	do {
		test_allocations_left = allocations++;
		error = ivl_start(NULL, &runtime);
		test_allocations_left = -1;
		assert_true(!error || error == ENOMEM);
	} while (error);
	ivl_stop(runtime);
	assert_in_range(allocations, 3, 1000);
}

TEST_MAIN(NULL, NULL)
