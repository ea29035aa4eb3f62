// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops of all schedules, up and down, to the ends of their types; ordered, doacross, sections. */
#include <limits.h>

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

static void schedules(void)
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

static void ends(void)
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

static void ordered(void)
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

/* Longer than anybody looks for it. */
static void delay(int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		;
}

static void doacross(void)
{
	static int grid[30][20];

#pragma omp parallel for ordered(2) schedule(dynamic)
	for (int i = 1; i < 30; i++)
		for (int j = 1; j < 20; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
			delay(j == 1 ? 100000 : 0);
			grid[i][j] = 1 + (grid[i - 1][j] > grid[i][j - 1] ? grid[i - 1][j] :
									    grid[i][j - 1]);
#pragma omp ordered depend(source)
		}
	CHECK(grid[29][19] == 29 + 19 - 1);
}

static void sections(void)
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

int main(void)
{
	schedules();
	ends();
	ordered();
	doacross();
	sections();
	return 0;
}
