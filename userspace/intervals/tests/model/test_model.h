/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the tests of the model. Bodies run on worker threads, which must not call cmocka: they
 * CHECK(), and run_body() asserts that no check failed.
 *
 * Tests are linked with -Wl,--wrap= of the functions below, which count live intervals and edges.
 */
#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include "test_runtimes.h"

#include "model.h"

static _Atomic int test_failures;
static _Atomic long test_live_intervals, test_live_edges;

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not %s; last error: %s\n", __FILE__, __LINE__, \
				#condition, ivl_last_error()); \
			atomic_fetch_add(&test_failures, 1); \
		} \
	} while (0)

struct ivl_interval *__real_ivl_interval_get(struct ivl_model *model);
struct ivl_interval *__wrap_ivl_interval_get(struct ivl_model *model);
void __real_ivl_interval_put(struct ivl_interval *interval);
void __wrap_ivl_interval_put(struct ivl_interval *interval);
struct ivl_edge *__real_ivl_edge_get(struct ivl_model *model);
struct ivl_edge *__wrap_ivl_edge_get(struct ivl_model *model);
void __real_ivl_edge_put(struct ivl_model *model, struct ivl_edge *edge);
void __wrap_ivl_edge_put(struct ivl_model *model, struct ivl_edge *edge);

struct ivl_interval *__wrap_ivl_interval_get(struct ivl_model *model)
{
	struct ivl_interval *interval = __real_ivl_interval_get(model);

	if (interval)
		atomic_fetch_add_explicit(&test_live_intervals, 1, memory_order_relaxed);
	return interval;
}

void __wrap_ivl_interval_put(struct ivl_interval *interval)
{
	atomic_fetch_sub_explicit(&test_live_intervals, 1, memory_order_relaxed);
	__real_ivl_interval_put(interval);
}

struct ivl_edge *__wrap_ivl_edge_get(struct ivl_model *model)
{
	struct ivl_edge *edge = __real_ivl_edge_get(model);

	if (edge)
		atomic_fetch_add_explicit(&test_live_edges, 1, memory_order_relaxed);
	return edge;
}

void __wrap_ivl_edge_put(struct ivl_model *model, struct ivl_edge *edge)
{
	atomic_fetch_sub_explicit(&test_live_edges, 1, memory_order_relaxed);
	__real_ivl_edge_put(model, edge);
}

/* One runtime for all tests of a program, as the environment says. */
static ivl_runtime *test_runtime;

static inline int model_start(void **state)
{
	return ivl_start(NULL, &test_runtime);
}

static inline int model_stop(void **state)
{
	ivl_stop(test_runtime);
	return test_live_intervals || test_live_edges;
}

static inline void checks_held(void)
{
	assert_int_equal(atomic_exchange(&test_failures, 0), 0);
}

/* Returns what ivl_run() does. */
static inline int run_body(ivl_body *body, void *arg)
{
	int error = ivl_run(test_runtime, body, arg);

	checks_held();
	return error;
}

/* A test that is a body, which succeeds. */
#define TEST_INSIDE(name) \
	static void inside_##name(ivl_interval *self); \
	OK_BODY(name##_body, void *unused) \
	{ \
		inside_##name(self); \
	} \
	TEST(name) \
	{ \
		assert_int_equal(run_body(name##_body, NULL), 0); \
	} \
	static void inside_##name(ivl_interval *self)

/* For bodies. */
static inline ivl_interval *make(ivl_interval *parent, const char *name, ivl_body *body, void *arg)
{
	ivl_interval *interval = ivl_create(parent, name, body, arg, NULL);

	CHECK(interval);
	return interval;
}

static inline void edge(ivl_point *from, ivl_point *to)
{
	CHECK(ivl_add_edge(from, to) == 0);
}

static inline void release_all(ivl_interval *const *intervals, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ivl_release(intervals[i]);
}

#define RELEASE(...) \
	release_all((ivl_interval *const[]){ __VA_ARGS__ }, \
		    sizeof((ivl_interval *const[]){ __VA_ARGS__ }) / sizeof(ivl_interval *))

static inline void release_one(ivl_interval **interval)
{
	ivl_release(*interval);
}

/* OWNED *name: released at the end of the block. */
#define OWNED __attribute__((cleanup(release_one), unused)) ivl_interval

#define START(interval) ivl_start_point(interval)
#define END(interval) ivl_end_point(interval)

/* Interval `from` ends before interval `to` starts. */
static inline void before(ivl_interval *from, ivl_interval *to)
{
	edge(END(from), START(to));
}

/* A body that records its run by the first letter of its name. */
struct trace {
	_Atomic int count;
	char who[256];
};

static inline int note(ivl_interval *self, void *arg)
{
	struct trace *trace = arg;

	trace->who[atomic_fetch_add(&trace->count, 1)] = ivl_name(self)[0];
	return 0;
}

/* Whether an interval ran, or ran before another. */
static inline bool ran(const struct trace *trace, char who)
{
	return memchr(trace->who, who, sizeof(trace->who));
}

static inline bool ran_before(const struct trace *trace, char first, char second)
{
	const char *a = memchr(trace->who, first, sizeof(trace->who));
	const char *b = memchr(trace->who, second, sizeof(trace->who));

	return a && b && a < b;
}

/* The body ends with this error, and exactly the intervals with these letters have run. */
static inline void runs(ivl_body *body, int error, const char *letters)
{
	for (int i = 0; i < 300; i++) {
		struct trace trace = { 0 };

		assert_int_equal(run_body(body, &trace), error);
		assert_int_equal(trace.count, strlen(letters));
		for (const char *letter = letters; *letter; letter++)
			assert_true(ran(&trace, *letter));
	}
}

/* A test that is such a body: it has a `trace`. */
#define TEST_RUNS(name, error, letters) \
	static int name##_body(ivl_interval *self, void *trace); \
	TEST(name) \
	{ \
		runs(name##_body, error, letters); \
	} \
	OK_BODY(name##_body, struct trace *trace)

#endif
