// SPDX-License-Identifier: LGPL-2.1-or-later
/* Critical sections and locks: by threads, and by tasks that wait while they hold one. */
#include "../../tests/test.h"
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

TEST(excluded)
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

/* A task that holds the lock waits for its children while its siblings wait for the lock. */
TEST(held_over_waits)
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

/* The program's own atomics, which take no lock of the library. */
#define LOAD(flag) __atomic_load_n(&(flag), __ATOMIC_ACQUIRE)
#define STORE(flag, value) __atomic_store_n(&(flag), value, __ATOMIC_RELEASE)
#define AWAIT(flag) test_yield_until(LOAD(flag))

/* A lock's only waiter gets it. */
TEST(handed_over)
{
	int taken = 0, waits = 0, got = 0;
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num()) {
		AWAIT(taken);
		STORE(waits, 1);
		omp_set_lock(&lock);
		STORE(got, 1);
		omp_unset_lock(&lock);
	} else {
		omp_set_lock(&lock);
		STORE(taken, 1);
		AWAIT(waits);
		usleep(20000);
		omp_unset_lock(&lock);
		AWAIT(got);
	}
	omp_destroy_lock(&lock);
}

/* No task begins in a thread that waits for a critical section: it would block there. */
TEST(beside_another_lock)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int inside = 0, waits = 0, count = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task shared(inside, waits)
#pragma omp critical
		{
			STORE(inside, 1);
			AWAIT(waits);
			usleep(20000);
		}
		for (int i = 0; i < 8; i++) {
#pragma omp task shared(mutex, inside, waits, count)
			{
				AWAIT(inside);
				pthread_mutex_lock(&mutex);
				STORE(waits, 1);
#pragma omp critical
				count++;
				pthread_mutex_unlock(&mutex);
			}
		}
	}
	CHECK(count == 8);
}

/*
 * Nor does one begin in the thread of a task that holds a lock and waits. The task continues when
 * its children have ended, although the other threads do something else until then.
 */
TEST(beside_a_spinner)
{
	int begun = 0, wanted = 0, done = 0, count = 0;
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task shared(begun, wanted, done, lock, count)
		{
			omp_set_lock(&lock);
#pragma omp task shared(begun, wanted)
			{
				STORE(begun, 1);
				AWAIT(wanted);
				usleep(20000);
			}
			AWAIT(begun);
#pragma omp taskwait
			count++;
			omp_unset_lock(&lock);
			STORE(done, 1);
		}
		AWAIT(begun);
		for (int i = 0; i < 4; i++) {
#pragma omp task shared(lock, count)
			{
				omp_set_lock(&lock);
				count++;
				omp_unset_lock(&lock);
			}
		}
		STORE(wanted, 1);
		AWAIT(done);
	}
	CHECK(count == 5);
	omp_destroy_lock(&lock);
}

/* Nor does that thread's implicit task continue, which may take the other lock, too. */
TEST(above_another_lock)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int begun = 0, waits = 0, count = 0, child = 0;
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task shared(begun, waits) depend(out : child)
		{
			STORE(begun, 1);
			AWAIT(waits);
			child = 1;
		}
		AWAIT(begun);
#pragma omp task shared(begun, waits, mutex, lock, count)
		{
			omp_set_lock(&lock);
			/* For the thread that is in taskwait by then. */
#pragma omp task shared(waits, mutex, lock, count)
			{
				pthread_mutex_lock(&mutex);
				STORE(waits, 1);
				omp_set_lock(&lock);
				count++;
				omp_unset_lock(&lock);
				pthread_mutex_unlock(&mutex);
			}
			STORE(begun, 2);
			AWAIT(waits);
			usleep(20000);
			omp_unset_lock(&lock);
		}
		test_yield_until(LOAD(begun) >= 2);
#pragma omp taskwait depend(in : child)
		pthread_mutex_lock(&mutex);
		count += child;
		pthread_mutex_unlock(&mutex);
	}
	CHECK(count == 2);
	omp_destroy_lock(&lock);
}

/* New tasks do not wake threads that wait for a lock: awake threads begin them. */
TEST(beside_sleepers)
{
	omp_lock_t lock;
	int begun = 0, count = 0;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(7)
#pragma omp single
	{
		omp_set_lock(&lock);
		for (int i = 0; i < 5; i++) {
#pragma omp task shared(begun, lock, count)
			{
#pragma omp atomic
				begun++;
				omp_set_lock(&lock);
				count++;
				omp_unset_lock(&lock);
			}
		}
		test_yield_until(LOAD(begun) >= 5);
		for (int i = 0; i < 5; i++) {
			int here = 0;

			usleep(2000);
#pragma omp task shared(here)
			STORE(here, 1);
			AWAIT(here);
		}
		omp_unset_lock(&lock);
	}
	CHECK(count == 5);
	omp_destroy_lock(&lock);
}

struct held {
	omp_lock_t lock;
	int taken;
};

/* Until the lock has a waiter: then its first four bytes are 2 (lock.c). */
THREAD(hold_for_a_while, struct held *held)
{
	omp_set_lock(&held->lock);
	STORE(held->taken, 1);
	test_yield_until(__atomic_load_n((int *)&held->lock, __ATOMIC_RELAXED) == 2);
	usleep(20000);
	omp_unset_lock(&held->lock);
}

/*
 * The first task waits for its child; another begins in its thread, and waits for the lock of the
 * thread that waits for the first. All wait, so the first continues while the other waits. When it
 * has ended, its thread again begins no task.
 */
TEST(when_all_wait)
{
	int begun = 0, wanted = 0, first = 0, count = 0, more = 0, checked = 0;
	struct held held = { .taken = 0 };
	pthread_t thread;
	omp_lock_t lock;

	omp_init_lock(&lock);
	omp_init_lock(&held.lock);
	CHECK(!pthread_create(&thread, NULL, hold_for_a_while, &held));
	AWAIT(held.taken);
#pragma omp parallel num_threads(3)
#pragma omp single
	{
		omp_set_lock(&lock);
#pragma omp task shared(begun, wanted, count, more, checked, held) depend(out : first)
		{
#pragma omp task shared(begun, wanted)
			{
				STORE(begun, 1);
				AWAIT(wanted);
				usleep(20000);
			}
			AWAIT(begun);
#pragma omp taskwait
			/* The third thread is busy, and would see that the next begins here. */
#pragma omp task shared(begun, wanted, more, checked)
			{
				STORE(begun, 2);
				test_yield_until(LOAD(wanted) >= 2);
				usleep(20000);
				CHECK(!LOAD(more));
				STORE(checked, 1);
			}
			test_yield_until(LOAD(begun) >= 2);
#pragma omp task shared(more)
			STORE(more, 1);
			omp_set_lock(&held.lock);
			omp_unset_lock(&held.lock);
			first = 1;
			STORE(wanted, 2);
		}
		AWAIT(begun);
#pragma omp task shared(wanted, lock, count)
		{
			STORE(wanted, 1);
			omp_set_lock(&lock);
			count++;
			omp_unset_lock(&lock);
		}
#pragma omp taskwait depend(in : first)
		CHECK(first == 1 && count == 0);
		AWAIT(checked);
		omp_unset_lock(&lock);
	}
	CHECK(count == 1 && more == 1);
	pthread_join(thread, NULL);
	omp_destroy_lock(&lock);
	omp_destroy_lock(&held.lock);
}

THREAD(fulfil_later, omp_event_handle_t *event)
{
	usleep(20000);
	omp_fulfill_event(*event);
}

/* All wait, and the one with a lock for what another thread tells. */
TEST(for_an_event)
{
	omp_lock_t lock;

	omp_init_lock(&lock);
	for (int threads = 1; threads < 3; threads++) {
		int completed = 1;

#pragma omp parallel num_threads(threads)
#pragma omp single
		{
			omp_event_handle_t event;
			pthread_t thread;

			omp_set_lock(&lock);
#pragma omp task detach(event) depend(out : completed) shared(completed)
			completed = 0;
			CHECK(!pthread_create(&thread, NULL, fulfil_later, &event));
#pragma omp taskwait depend(in : completed)
			CHECK(!completed);
			omp_unset_lock(&lock);
			pthread_join(thread, NULL);
		}
	}
	omp_destroy_lock(&lock);
}

TEST_MAIN(NULL, NULL)
