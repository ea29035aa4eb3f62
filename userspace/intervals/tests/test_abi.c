// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What compiled programs rely on. A failure here breaks them: it needs another major version and
 * SONAME. Numbers may only be added at the end.
 */

#include "test_runtimes.h"

#define IS_AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field)

#ifdef __LP64__
_Static_assert(sizeof(struct ivl_task) == 56, "ivl_task");
IS_AT(ivl_task, function, 16);
IS_AT(ivl_task, context, 40);
_Static_assert(sizeof(struct ivl_scope) == 32, "ivl_scope");
IS_AT(ivl_scope, refused, 24);
_Static_assert(sizeof(struct ivl_group) == 32, "ivl_group");
_Static_assert(sizeof(struct ivl_try_scope) == 40, "ivl_try_scope");
_Static_assert(sizeof(struct ivl_try_task) == 80, "ivl_try_task");

IS_AT(ivl_config, size, 0);
IS_AT(ivl_config, workers, 8);
IS_AT(ivl_config, places, 24);
IS_AT(ivl_config, place_cpus, 32);
IS_AT(ivl_config, pin, 44);
IS_AT(ivl_config, stack_bytes, 48);
IS_AT(ivl_config, fibers_per_worker, 56);
IS_AT(ivl_config, queue_capacity, 80);
IS_AT(ivl_config, seed, 88);
IS_AT(ivl_config, feedback, 96);
IS_AT(ivl_config, deadlock_ms, 104);
IS_AT(ivl_config, tied, 112);
IS_AT(ivl_config, search_us, 120);
/* All fields of 1.0.0. Later fields follow them, not in padding; `size` says which exist. */
_Static_assert(sizeof(struct ivl_config) >= 104, "ivl_config");
IS_AT(ivl_statistics, fibers, 88);
IS_AT(ivl_statistics, desire, 112);
#endif

_Static_assert(IVL_QUEUE_SHARED == 7 && IVL_HELP_FIRST == 2 &&
	       IVL_VICTIMS_DOMAINS_THRESHOLD == 3 && IVL_PLACES_GIVEN == 4, "enumerations");

TEST(version)
{
	char words[32];

	assert_int_equal(ivl_version(), IVL_VERSION);
	snprintf(words, sizeof(words), "%d.%d.%d", IVL_VERSION_MAJOR, IVL_VERSION_MINOR,
		 IVL_VERSION_PATCH);
	assert_string_equal(words, IVL_VERSION_STRING);
}

/* A program that knows the first two fields only. */
TEST(older_program)
{
	struct {
		size_t size;
		unsigned int workers;
		unsigned int beyond;
	} older = { .beyond = 77 };
	struct ivl_config *config = (struct ivl_config *)&older;
	const size_t size = offsetof(struct ivl_config, queue);
	ivl_runtime *runtime;

	_Static_assert(offsetof(struct ivl_config, queue) == 12, "size and workers");
	assert_int_equal(ivl_config_init_size(config, size), 0);
	assert_int_equal(older.beyond, 77);
	assert_int_equal(older.size, size);
	older.workers = 3;
	/* Queue and stack are 0, so the defaults apply. */
	setenv("INTERVALS_STACK", "64", 1);
	assert_int_equal(ivl_start(config, &runtime), 0);
	unsetenv("INTERVALS_STACK");
	assert_int_equal(ivl_worker_count(runtime), 3);
	test_run(runtime, test_nothing, NULL);
	ivl_stop(runtime);
}

/* A program that knows a field which the library does not. */
TEST(newer_program)
{
	struct {
		struct ivl_config known;
		uint64_t unknown;
	} newer;
	ivl_runtime *runtime;

	memset(&newer, 0xaa, sizeof(newer));
	assert_int_equal(ivl_config_init_size(&newer.known, sizeof(newer)), 0);
	assert_int_equal(newer.known.size, sizeof(newer));
	assert_int_equal(newer.unknown, 0);
	newer.known.workers = 2;
	assert_int_equal(ivl_start(&newer.known, &runtime), 0);
	assert_int_equal(ivl_worker_count(runtime), 2);
	ivl_stop(runtime);
	newer.unknown = 1;
	assert_int_equal(ivl_start(&newer.known, &runtime), EINVAL);
	assert_non_null(strstr(ivl_last_error(), "does not know"));
}

TEST(no_size)
{
	struct ivl_config config = { .workers = 1 };
	ivl_runtime *runtime;

	assert_int_equal(ivl_start(&config, &runtime), EINVAL);
	assert_string_equal(ivl_last_error(), "config: size is 0; ivl_config_init() sets it");
	config.workers = 7;
	assert_int_equal(ivl_config_init_size(&config, 4), EINVAL);
	assert_int_equal(config.workers, 7);
}

/* A program that knows the first two counts only, or one more than the library. */
TEST(statistics)
{
	struct ivl_config config = test_config(1);
	struct {
		struct ivl_statistics known;
		uint64_t unknown;
	} counts;
	uint64_t *count = (uint64_t *)&counts;

	config.statistics = true;
	TEST_RUNTIME(runtime, &config);
	test_run(runtime, test_nothing, NULL);
	memset(&counts, 0xaa, sizeof(counts));
	ivl_statistics_read_size(runtime, &counts.known, 2 * sizeof(uint64_t));
	assert_true(counts.known.takes > 0 && counts.known.takes < 1000000);
	for (size_t i = 2; i < sizeof(counts) / sizeof(uint64_t); i++)
		assert_int_equal(count[i], 0xaaaaaaaaaaaaaaaa);
	ivl_statistics_read_size(runtime, &counts.known, sizeof(counts));
	assert_true(counts.known.fibers > 0);
	assert_int_equal(counts.unknown, 0);
}

TEST_MAIN(NULL, NULL)
