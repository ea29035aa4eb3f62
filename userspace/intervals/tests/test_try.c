// SPDX-License-Identifier: LGPL-2.1-or-later
/* Children and loops that may fail. */
#include "test_runtimes.h"

#define CHILDREN 100

struct attempt {
	struct ivl_try_scope scope;
	_Atomic int ran;
	int error;
};

static int succeed(void *arg)
{
	atomic_fetch_add(&((struct attempt *)arg)->ran, 1);
	return 0;
}

/* Fails once; its siblings see it. */
static int fail_once(void *arg)
{
	struct attempt *test = arg;

	if (atomic_fetch_add(&test->ran, 1) == 5)
		return EIO;
	return ivl_try_error(&test->scope) ? EPERM : 0;
}

static void spawn_all(struct attempt *test, ivl_try *function)
{
	struct ivl_try_task tasks[CHILDREN];

	for (int i = 0; i < CHILDREN; i++)
		if (ivl_try_spawn(&test->scope, &tasks[i], function, test))
			ivl_try_cancel(&test->scope, ENOMEM);
	test->error = ivl_try_sync(&test->scope);
}

BODY(spawn_body, struct attempt *test)
{
	bool alone;

	alone = ivl_grain(16) == 2;	/* one worker */
	spawn_all(test, succeed);
	if (test->error || test->ran != CHILDREN)
		return EPROTO;
	atomic_store(&test->ran, 0);
	spawn_all(test, fail_once);
	if (test->error != EIO || (alone && test->ran != 6))
		return EPROTO;
	/* The scope can be used again. */
	atomic_store(&test->ran, 0);
	spawn_all(test, succeed);
	if (test->error || test->ran != CHILDREN)
		return EPROTO;
	/* Cancels from the waiting task. */
	ivl_try_cancel(&test->scope, ECANCELED);
	ivl_try_cancel(&test->scope, EIO);
	spawn_all(test, succeed);
	return test->error == ECANCELED && test->ran == CHILDREN ? 0 : EPROTO;
}

TEST_ON_ALL(spawn)
{
	struct attempt test = { .scope = IVL_TRY_SCOPE_INIT };

	test_run(runtime, spawn_body, &test);
}

static int fail_at_five(size_t begin, size_t end, void *arg)
{
	atomic_fetch_add(&((struct attempt *)arg)->ran, (int)(end - begin));
	return begin <= 5 && 5 < end ? ERANGE : 0;
}

BODY(loop_body, struct attempt *test)
{
	if (ivl_try_for(6, 1000, 0, fail_at_five, test) || test->ran != 994)
		return EPROTO;
	test->error = ivl_try_for(5, 5000, 1, fail_at_five, test);
	return 0;
}

TEST_ON_ALL(loop)
{
	struct attempt test = { .error = 0 };

	test_run(runtime, loop_body, &test);
	assert_int_equal(test.error, ERANGE);
}

/* In turn: children after the error do not run. */
TEST(outside)
{
	struct attempt test = { .scope = IVL_TRY_SCOPE_INIT };

	spawn_all(&test, fail_once);
	assert_int_equal(test.error, EIO);
	assert_int_equal(test.ran, 6);
	assert_int_equal(ivl_try_for(0, 100, 1, fail_at_five, &test), ERANGE);
	assert_in_range(test.ran, 7, 6 + 95);
}

TEST_MAIN(NULL, NULL)
