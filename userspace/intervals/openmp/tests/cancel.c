// SPDX-License-Identifier: LGPL-2.1-or-later
/* Cancellation, which OMP_CANCELLATION allows. */
#include <malloc.h>

#include "../../tests/test.h"
#include "check.h"

void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,
	       long alignment, bool condition, unsigned int flags, void **depend, int priority,
	       void *detach);

TEST(regions)
{
	atomic_int passed = 0;

	CHECK(omp_get_cancellation());
#pragma omp parallel
	{
		if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
			atomic_fetch_add(&passed, 1);
		}
#pragma omp barrier
		atomic_fetch_add(&passed, 1);
	}
	CHECK(atomic_load(&passed) == 0);
}

/* A thread that waits in a barrier leaves it when its region is cancelled. */
TEST(barriers)
{
	atomic_int came = 0;

#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 0) {
			usleep(20000);
#pragma omp cancel parallel
		}
#pragma omp barrier
	}
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 0)
			usleep(20000);
		atomic_fetch_add(&came, 1);
#pragma omp barrier
		CHECK(atomic_load(&came) == 2);
	}
}

static size_t allocated(void)
{
	return mallinfo2().uordblks;
}

/* What one thread of a region has come to and the other has not is given back. */
TEST(memory)
{
	size_t before = 0;

	for (int i = 0; i < 2000; i++) {
		if (i == 100)
			before = allocated();
#pragma omp parallel num_threads(2)
		{
			if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
			}
#pragma omp single nowait
			;
#pragma omp single nowait
			;
		}
	}
	CHECK(allocated() < before + 100000);
}

TEST(loops)
{
	atomic_int ran = 0;

#pragma omp parallel
#pragma omp for schedule(dynamic)
	for (int i = 0; i < 1000000; i++) {
		atomic_fetch_add(&ran, 1);
		if (i == 10) {
#pragma omp cancel for
		}
#pragma omp cancellation point for
	}
	CHECK(atomic_load(&ran) > 0 && atomic_load(&ran) < 1000000);
}

TEST(groups)
{
	atomic_int ran = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskgroup
		{
#pragma omp task if (0)
			{
#pragma omp cancel taskgroup
				atomic_fetch_add(&ran, 1);
			}
			for (int i = 0; i < 100; i++) {
#pragma omp task
				atomic_fetch_add(&ran, 1);
			}
		}
#pragma omp task
		atomic_fetch_add(&ran, 1000);
	}
	CHECK(atomic_load(&ran) == 1000);
}

/* Outside of all regions, where tasks run at once. */
TEST(group_outside)
{
	int begun = 0, ran = 0;

#pragma omp taskgroup
	for (int i = 0; i < 3; i++) {
#pragma omp task shared(begun, ran)
		{
			begun++;
#pragma omp task
			{
#pragma omp cancel taskgroup if (i == 1)
			}
#pragma omp cancellation point taskgroup
			ran++;
		}
	}
	CHECK(begun == 2 && ran == 1);
#pragma omp task shared(ran)
	ran++;
	CHECK(ran == 2);
}

/* One thread cancels a loop while the other is in the one before. */
TEST(one_before)
{
	atomic_int ran = 0, cancels = 0;

	omp_set_schedule(omp_sched_static, 1);
#pragma omp parallel num_threads(2)
	{
#pragma omp for schedule(runtime) nowait
		for (int i = 0; i < 100; i++) {
			atomic_fetch_add(&ran, 1);
			if (i)
				continue;
			test_yield_until(atomic_load(&cancels));
			usleep(20000);
		}
#pragma omp for
		for (int i = 0; i < 2; i++) {
			atomic_store(&cancels, 1);
#pragma omp cancel for
		}
	}
	CHECK(atomic_load(&ran) == 100);
}

/*
 * After a cancellation a detached task that has not begun is not waited for, whether its event is
 * fulfilled before, afterwards or, by its body, never.
 */
TEST(detached)
{
	for (int i = 0; i < 3; i++) {
		omp_event_handle_t event, none;
		int ran = 0, chain = 0;

		(void)chain;
#pragma omp parallel num_threads(2)
#pragma omp single
		{
#pragma omp taskgroup
			{
				omp_event_handle_t begins;

#pragma omp task detach(begins) depend(out : chain)
				;
#pragma omp task detach(event) depend(inout : chain) shared(ran)
				ran++;
				if (i == 0)
					omp_fulfill_event(event);
#pragma omp task if (0)
				{
#pragma omp cancel taskgroup
				}
#pragma omp task detach(none)
				ran++;
				omp_fulfill_event(begins);
			}
			if (i == 1)
				omp_fulfill_event(event);
			omp_fulfill_event(none);
		}
		CHECK(!ran);
	}
}

TEST(detached_in_region)
{
	atomic_int cancels = 0;
	int chain = 0;
	omp_event_handle_t begins;

	(void)chain;
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num() == 0) {
		omp_event_handle_t event;

#pragma omp task detach(begins) depend(out : chain)
		;
#pragma omp task detach(event) depend(inout : chain)
		omp_fulfill_event(event);
		atomic_store(&cancels, 1);
#pragma omp cancel parallel
	} else {
		test_yield_until(atomic_load(&cancels));
		usleep(20000);
		omp_fulfill_event(begins);
	}
}

static int objects;

static void construct(void *to, void *from)
{
	memcpy(to, from, sizeof(long));
	objects++;
}

static void use_and_destroy(void *data)
{
	objects--;
}

/* As of C++: a task destroys the copies that it was given, so it must run. */
TEST(constructed)
{
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
	{
		long object = 1;

		GOMP_task(use_and_destroy, &object, construct, sizeof(object), sizeof(object), true,
			  0, NULL, 0, NULL);
		CHECK(objects == 1);
#pragma omp task if (0)
		{
#pragma omp cancel taskgroup
		}
	}
	CHECK(!objects);
}

TEST_MAIN(NULL, NULL)
