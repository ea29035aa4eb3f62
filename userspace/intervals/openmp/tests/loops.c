// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops of all schedules, up and down, to the ends of their types; ordered, doacross, sections. */
#include <limits.h>

#include "../../tests/test.h"
#include "check.h"

#define COUNT 1000

static int hits[COUNT];

static void all_once(const char *what)
{
	for (int i = 0; i < COUNT; i++) {
		if (hits[i] != 1)
			fprintf(stderr, "%s: iteration %d ran %d times\n", what, i, hits[i]);
		CHECK(hits[i] == 1);
		hits[i] = 0;
	}
}

#define EACH(schedule_, name) \
	do { \
		_Pragma(schedule_) for (long i = 0; i < COUNT; i++) hits[i]++; \
		all_once(name); \
	} while (0)

TEST(schedules)
{
	EACH("omp parallel for schedule(static)", "static");
	EACH("omp parallel for schedule(static, 7)", "static, 7");
	EACH("omp parallel for schedule(dynamic)", "dynamic");
	EACH("omp parallel for schedule(dynamic, 13)", "dynamic, 13");
	EACH("omp parallel for schedule(monotonic : dynamic, 3)", "monotonic dynamic");
	EACH("omp parallel for schedule(guided)", "guided");
	EACH("omp parallel for schedule(guided, 5)", "guided, 5");
	EACH("omp parallel for schedule(auto)", "auto");
	for (int kind = omp_sched_static; kind <= (int)omp_sched_auto; kind++) {
		omp_set_schedule((omp_sched_t)kind, kind * 3);
		EACH("omp parallel for schedule(runtime)", "runtime");
		EACH("omp parallel for schedule(runtime) ordered", "runtime ordered");
	}
#pragma omp parallel
	{
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < COUNT; i++)
			hits[i]++;
#pragma omp for schedule(guided) nowait
		for (int i = 0; i < 0; i++)
			hits[i]++;
	}
	all_once("nowait");
}

TEST(ends)
{
	int count = 0;

#pragma omp parallel for schedule(dynamic, 3) reduction(+ : count)
	for (unsigned long long i = ULLONG_MAX - 10; i < ULLONG_MAX; i++)
		count++;
	CHECK(count == 10);
	count = 0;
#pragma omp parallel for schedule(guided) reduction(+ : count)
	for (long i = LONG_MIN + 23; i > LONG_MIN + 3; i -= 3)
		count++;
	CHECK(count == 7);
	count = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : count)
	for (unsigned long long i = 100; i > 9; i -= 7)
		count++;
	CHECK(count == 13);
}

TEST(ordered)
{
	int at = 0;

#pragma omp parallel for ordered schedule(dynamic, 2)
	for (int i = 0; i < 200; i++) {
#pragma omp ordered
		CHECK(at++ == i);
	}
	at = 0;
	/* Not every iteration has the region. */
#pragma omp parallel for ordered schedule(static, 3)
	for (int i = 0; i < 200; i++) {
		if (i % 5)
			continue;
#pragma omp ordered
		{
			CHECK(at == i);
			at += 5;
		}
	}
	CHECK(at == 200);
}

/* Longer than any thread spins. */
static void delay(int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		;
}

#define WAVE(schedule_) \
	do { \
		static int grid[30][20]; \
		\
		_Pragma(schedule_) for (int i = 1; i < 30; i++) for (int j = 1; j < 20; j++) \
		{ \
			_Pragma("omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)"); \
			delay(j == 1 ? 50000 : 0); \
			grid[i][j] = 1 + (grid[i - 1][j] > grid[i][j - 1] ? grid[i - 1][j] : \
									    grid[i][j - 1]); \
			_Pragma("omp ordered depend(source)"); \
		} \
		CHECK(grid[29][19] == 29 + 19 - 1); \
	} while (0)

TEST(doacross)
{
	WAVE("omp parallel for ordered(2) schedule(dynamic)");
	WAVE("omp parallel for ordered(2) schedule(dynamic, 4)");
	WAVE("omp parallel for ordered(2) schedule(static)");
	WAVE("omp parallel for ordered(2) schedule(static, 3)");
	WAVE("omp parallel for ordered(2) schedule(guided)");
	WAVE("omp parallel for ordered(2) schedule(guided, 3)");
}

bool GOMP_loop_doacross_static_start(unsigned int dimensions, long *counts, long chunk,
				     long *begin, long *end);
bool GOMP_loop_doacross_dynamic_start(unsigned int dimensions, long *counts, long chunk,
				      long *begin, long *end);
bool GOMP_loop_dynamic_next(long *begin, long *end);
void GOMP_loop_end(void);
void GOMP_doacross_post(long *at);
void GOMP_doacross_wait(long first, ...);

/*
 * More iterations than memory has bytes for, of which each chunk's first waits for the one before
 * it: as the compiler has it, but for the iterations between.
 */
TEST(doacross_long)
{
	enum { CHUNKS = 1000 };
	long counts[1] = { 1L << 40 }, last = 0;

#pragma omp parallel
	{
		long begin, end;

		if (GOMP_loop_doacross_static_start(1, counts, 0, &begin, &end)) {
			if (begin)
				GOMP_doacross_wait(begin - 1);
			CHECK(last == begin);
			delay(100000);
			last = end;
			end--;
			GOMP_doacross_post(&end);
		}
		GOMP_loop_end();
	}
	CHECK(last == counts[0]);
	last = 0;
#pragma omp parallel
	{
		const long chunk = counts[0] / CHUNKS;
		long begin, end;
		bool more = GOMP_loop_doacross_dynamic_start(1, counts, chunk, &begin, &end);

		while (more) {
			if (begin)
				GOMP_doacross_wait(begin - 1);
			CHECK(last == begin);
			last = end;
			end--;
			GOMP_doacross_post(&end);
			more = GOMP_loop_dynamic_next(&begin, &end);
		}
		GOMP_loop_end();
	}
	CHECK(last == counts[0]);
}

TEST(sections)
{
	int ran = 0;

#pragma omp parallel sections reduction(| : ran)
	{
		ran |= 1;
#pragma omp section
		ran |= 2;
#pragma omp section
		ran |= 4;
	}
	CHECK(ran == 7);
#pragma omp parallel
	{
		int copied = omp_get_thread_num();

#pragma omp single copyprivate(copied)
		copied = 77;
		CHECK(copied == 77);
	}
}

TEST_MAIN(NULL, NULL)
