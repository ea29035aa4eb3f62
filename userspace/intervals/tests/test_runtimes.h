/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runtimes of every kind, for tests. */
#ifndef TEST_RUNTIMES_H
#define TEST_RUNTIMES_H

#include "intervals.h"
#include "test.h"

/* Tests run many times slower. */
#define TEST_SLOW TEST_SANITIZED

/* Wait until the condition is true, for 20 seconds at most; returns whether it is. */
#define test_comes_true(condition) ({ \
	bool came_ = (condition); \
	for (int ms_ = 0; ms_ < 20000 && !came_; ms_++) { \
		usleep(1000); \
		came_ = (condition); \
	} \
	came_; \
})

/* On 1, 2 and 8 workers: a statement for each. */
#define test_on_counts(workers) \
	for (unsigned int workers = 1; workers <= 8; workers *= workers == 1 ? 2 : 4)

/* With 0, as many workers as the environment says. */
static inline struct ivl_config test_config(unsigned int workers)
{
	struct ivl_config config;

	assert_int_equal(ivl_config_init(&config), 0);
	if (workers)
		config.workers = workers;
	return config;
}

static inline ivl_runtime *test_start(const struct ivl_config *config)
{
	ivl_runtime *runtime = NULL;

	if (ivl_start(config, &runtime))
		fail_msg("ivl_start: %s", ivl_last_error());
	return runtime;
}

static inline void test_stop(ivl_runtime **runtime)
{
	ivl_stop(*runtime);
}

/* A started runtime, which the end of the block stops. */
#define TEST_RUNTIME(runtime, config) \
	__attribute__((cleanup(test_stop))) ivl_runtime *runtime = test_start(config)

/* The same, of this many workers. */
#define TEST_WORKERS(runtime, count) \
	TEST_RUNTIME(runtime, (const struct ivl_config[]){ test_config(count) })

/* A configuration of each policy, or queue, or of 1, 2 and 8 workers: a statement for each. */
#define test_on_each(config, count, field, end) \
	for (struct ivl_config config = ({ \
		     struct ivl_config first_ = test_config(count); \
		     first_.field = 0; \
		     first_; \
	     }); config.field < (end); config.field++)

#define test_on_policies(config, count) test_on_each(config, count, policy, IVL_POLICIES)
#define test_on_queues(config, count) test_on_each(config, count, queue, IVL_QUEUES)

#define test_on_sizes(config) \
	for (struct ivl_config config = test_config(1); config.workers <= 8; \
	     config.workers *= config.workers == 1 ? 2 : 4)

static inline struct ivl_statistics test_counts(const ivl_runtime *runtime)
{
	struct ivl_statistics statistics;

	ivl_statistics_read(runtime, &statistics);
	return statistics;
}

/* ivl_run() or ivl_run_here(). */
typedef int test_enter(ivl_runtime *runtime, ivl_body *body, void *arg);

/* Bodies that call function(arg), or do so in a finish. */
#define CALL_BODY(name, function) \
	static int name(ivl_interval *self, void *arg) \
	{ \
		function(arg); \
		return 0; \
	}

#define FINISH_BODY(name, function) \
	static int name(ivl_interval *self, void *arg) \
	{ \
		return ivl_finish(function, arg); \
	}

static inline int test_nothing(ivl_interval *self, void *arg)
{
	return 0;
}

static inline void test_no_task(void *arg)
{
}

static inline void test_run(ivl_runtime *runtime, ivl_body *body, void *arg)
{
	assert_int_equal(ivl_run(runtime, body, arg), 0);
}

/* Fibonacci numbers, by spawn and sync. */
struct fib {
	int n;
	long result;
};

static inline void spawning_fib(void *arg)
{
	struct fib *whole = (struct fib *)arg;
	struct fib left = { whole->n - 1, 0 }, right = { whole->n - 2, 0 };
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	whole->result = whole->n;
	if (whole->n < 2)
		return;
	if (ivl_spawn(&scope, &task, spawning_fib, &left))
		spawning_fib(&left);
	spawning_fib(&right);
	ivl_sync(&scope);
	whole->result = left.result + right.result;
}

struct test_function {
	ivl_function *function;
	void *arg;
};

static inline int test_call_body(ivl_interval *self, void *arg)
{
	const struct test_function *call = (const struct test_function *)arg;

	call->function(call->arg);
	return 0;
}

static inline int test_finish_body(ivl_interval *self, void *arg)
{
	const struct test_function *call = (const struct test_function *)arg;

	return ivl_finish(call->function, call->arg);
}

/* function(arg) inside the runtime: as it is, or in a finish. */
static inline void test_call(ivl_runtime *runtime, ivl_function *function, void *arg)
{
	test_run(runtime, test_call_body, &(struct test_function){ function, arg });
}

static inline int test_try_finish(ivl_runtime *runtime, ivl_function *function, void *arg)
{
	return ivl_run(runtime, test_finish_body, &(struct test_function){ function, arg });
}

static inline void test_finish(ivl_runtime *runtime, ivl_function *function, void *arg)
{
	assert_int_equal(test_try_finish(runtime, function, arg), 0);
}

/* So many children that each call function(arg); waits for them. */
static inline void spawn_and_sync(unsigned int count, ivl_function *function, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[count];

	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(ivl_spawn(&scope, &tasks[i], function, arg), 0);
	ivl_sync(&scope);
}

/* Start a runtime, run the body, stop the runtime. */
static inline void test_run_on(const struct ivl_config *config, ivl_body *body, void *arg)
{
	ivl_runtime *runtime = test_start(config);

	test_run(runtime, body, arg);
	ivl_stop(runtime);
}

/* Run test(runtime) on each queue, policy, and 1, 2 and 8 workers. */
static inline void test_on_all(void (*test)(ivl_runtime *runtime))
{
	test_on_queues(config, 1) {
		for (config.policy = 0; config.policy < IVL_POLICIES; config.policy++) {
			test_on_counts(workers) {
				/* ivl_start() refuses it. */
				if (config.tied && config.policy == IVL_WORK_FIRST)
					continue;
				print_message("# %s, %s, %u workers\n",
					      ivl_queue_name(config.queue),
					      ivl_policy_name(config.policy), workers);
				config.workers = workers;
				config.queue_capacity = 2;
				TEST_RUNTIME(runtime, &config);
				test(runtime);
			}
		}
	}
}

/* A test of each of those runtimes, which are started and stopped around it. */
#define TEST_ON_ALL(name) \
	static void test_kind_##name(ivl_runtime *runtime); \
	TEST(name) \
	{ \
		test_on_all(test_kind_##name); \
	} \
	static void test_kind_##name(ivl_runtime *runtime)

#endif
