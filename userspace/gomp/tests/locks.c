// SPDX-License-Identifier: LGPL-2.1-or-later
/* Critical sections and locks: by threads, and by tasks that wait while they hold one. */
#include "check.h"

enum { ROUNDS = 500 };

/* Long enough for another thread to come in between, if it may. */
static void add(volatile long *sum)
{
	const long before = *sum;

	for (volatile int i = 0; i < 200; i++)
		;
	*sum = before + 1;
}

static void excluded(void)
{
	long plain = 0, named = 0, locked = 0, nested = 0;
	omp_nest_lock_t nest;
	omp_lock_t lock;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel
	for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical
		add(&plain);
#pragma omp critical(name)
		add(&named);
		omp_set_lock(&lock);
		add(&locked);
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		add(&nested);
		CHECK(omp_test_nest_lock(&nest) == 3);
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
	}
	CHECK(plain == (long)ROUNDS * omp_get_max_threads());
	CHECK(named == plain && locked == plain && nested == plain);
	CHECK(omp_test_lock(&lock) && !omp_test_lock(&lock));
	omp_unset_lock(&lock);
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
}

/* A task that holds the lock waits for its children, and its thread goes on with others' tasks. */
static void held_over_waits(void)
{
	omp_lock_t lock;
	int count = 0;

	omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 200; i++) {
#pragma omp task shared(lock, count)
		{
			omp_set_lock(&lock);
			for (int j = 0; j < 3; j++) {
#pragma omp task shared(count)
#pragma omp atomic
				count++;
			}
#pragma omp taskwait
			omp_unset_lock(&lock);
		}
	}
	CHECK(count == 600);
}

int main(void)
{
	excluded();
	held_over_waits();
	return 0;
}
