// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tasks: recursion, waiting, tied threads, dependences, detached tasks. */
#include <time.h>

#include "../../tests/test.h"
#include "check.h"
#include "fib.h"

/* A child outlives its parent; only the barrier waits for it. */
static void leave_behind(int depth, atomic_int *ran)
{
	atomic_fetch_add(ran, 1);
	for (int i = 0; i < 3 && depth; i++) {
#pragma omp task
		leave_behind(depth - 1, ran);
	}
}

TEST(recursion)
{
	atomic_int ran = 0;
	long result = 0;

#pragma omp parallel
#pragma omp single
	result = fib(18);
	CHECK(result == 2584);
#pragma omp parallel
	{
#pragma omp single nowait
		leave_behind(6, &ran);
#pragma omp barrier
		CHECK(atomic_load(&ran) == (2187 - 1) / 2);
	}
}

/* A taskgroup is for all descendants. */
TEST(waiting)
{
	atomic_int ran = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskgroup
		for (int i = 0; i < 50; i++) {
#pragma omp task
			{
#pragma omp task
				atomic_fetch_add(&ran, 1);
			}
		}
		CHECK(atomic_load(&ran) == 50);
	}
}

static int spin(int n)
{
	volatile int x = 0;

	for (int i = 0; i < n; i++)
		x++;
	return x;
}

/* The thread is the same after a wait for children, which may have been stolen. */
static void stay(int depth)
{
	const pthread_t thread = pthread_self();
	const int number = omp_get_thread_num();

	spin(200);
	for (int i = 0; i < 3 && depth; i++) {
#pragma omp task untied
		stay(depth - 1);
	}
#pragma omp taskwait
	CHECK(pthread_equal(thread, pthread_self()) && number == omp_get_thread_num());
}

TEST(stays)
{
#pragma omp parallel
#pragma omp single
	stay(7);
}

TEST(data)
{
	int sum = 0;

#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 5000; i++) {
		int block[40];

		for (int j = 0; j < 40; j++)
			block[j] = i;
#pragma omp task shared(sum)
#pragma omp atomic
		sum += block[i % 40];
	}
	CHECK(sum == 5000 * 4999 / 2);
#pragma omp parallel
#pragma omp single
#pragma omp task final(1)
	{
		int inside = 0;

		CHECK(omp_in_final());
#pragma omp task shared(inside)
		inside = omp_in_final();
		CHECK(inside);
	}
}

TEST(dependences)
{
	enum { STEPS = 300 };
	int chain = 0, left = 0, right = 0, joined = 0, readers = 0;

#pragma omp parallel
#pragma omp single
	{
		for (int i = 0; i < STEPS; i++) {
#pragma omp task depend(inout : chain)
			{
				spin(50);
				CHECK(chain == i);
				chain++;
			}
		}
#pragma omp task depend(out : left)
		left = spin(5000);
#pragma omp task depend(out : right)
		right = spin(3000);
#pragma omp task depend(in : left, right) depend(out : joined)
		joined = left + right;
		for (int i = 0; i < 4; i++) {
#pragma omp task depend(in : joined)
#pragma omp atomic
			readers += joined;
		}
#pragma omp task depend(inout : joined)
		CHECK(readers == 4 * 8000);
#pragma omp taskwait depend(in : chain)
		CHECK(chain == STEPS);
#pragma omp task if (0) depend(inout : chain)
		CHECK(chain++ == STEPS);
	}
	CHECK(chain == STEPS + 1);
}

static double cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Each with an address of its own, far apart. */
static double depend_on_many(int count)
{
	enum { APART = 512 };
	char *addresses = malloc((size_t)count * APART);
	const double begin = cpu_time();

	CHECK(addresses);
#pragma omp parallel num_threads(1)
	for (int i = 0; i < count; i++) {
#pragma omp task depend(out : addresses[(size_t)i * APART])
		;
	}
	free(addresses);
	return cpu_time() - begin;
}

/* 16 times as many take less than 16 squared times as long. */
TEST(many_dependences)
{
	const double few = depend_on_many(2000);

	CHECK(depend_on_many(32000) < 5 * 16 * few);
}

/* A thread that makes tasks faster than they end must not queue all of them. */
TEST(bounded)
{
	const int most = 64 * omp_get_max_threads() + 1;
	atomic_int ended = 0, begun = 0;
	int chain = 0;

#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 20000; i++) {
#pragma omp task depend(inout : chain) shared(ended)
		{
			chain++;
			atomic_fetch_add(&ended, 1);
		}
		CHECK(i + 1 - atomic_load(&ended) <= most);
	}
	CHECK(chain == 20000);
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 20000; i++) {
#pragma omp task priority(1) shared(begun)
		atomic_fetch_add(&begun, 1);
		/* And one per thread that is taken and not yet begun. */
		CHECK(i + 1 - atomic_load(&begun) <= most + omp_get_num_threads());
	}
	CHECK(atomic_load(&begun) == 20000);
}

/* A creator does not wait for tasks that wait for it: for an event, or a lock. */
TEST(unbounded)
{
	const int count = 64 * omp_get_max_threads() + 100;
	atomic_int after = 0, locked = 0;
	char body[10] = { 0 };
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
	{
		omp_event_handle_t event;

#pragma omp task detach(event) depend(out : body[0]) shared(body)
		body[0] = 1;
		for (int i = 0; i < 9; i++) {
#pragma omp task depend(out : body[i + 1]) shared(body)
			usleep(1000 * !body[i + 1]);
		}
		for (int i = 0; i < count; i++) {
#pragma omp task depend(in : body[0]) shared(after)
			atomic_fetch_add(&after, 1);
		}
		CHECK(!atomic_load(&after));
		omp_fulfill_event(event);
		omp_set_lock(&lock);
		for (int i = 0; i < count; i++) {
#pragma omp task depend(in : body[1]) shared(locked)
			{
				omp_set_lock(&lock);
				atomic_fetch_add(&locked, 1);
				omp_unset_lock(&lock);
			}
		}
		CHECK(!atomic_load(&locked));
		omp_unset_lock(&lock);
	}
	CHECK(atomic_load(&after) == count && atomic_load(&locked) == count);
	omp_destroy_lock(&lock);
}

static void fulfilled_by_creator(void)
{
	int body = 0, fulfilled = 0, after = 0;
	omp_event_handle_t event;

#pragma omp task detach(event) depend(out : body) shared(body)
	body = 1;
#pragma omp task depend(in : body) shared(body, fulfilled, after)
	{
		CHECK(body == 1 && fulfilled == 1);
		after = 1;
	}
	/* However many are queued. */
	for (int i = 0; i < 100; i++) {
#pragma omp task depend(in : body) shared(fulfilled)
		CHECK(fulfilled == 1);
	}
	/* The second must not begin at the end of the first's body. */
	spin(20000);
#pragma omp taskyield
	CHECK(!after);
	fulfilled = 1;
	omp_fulfill_event(event);
#pragma omp taskwait
	CHECK(after);
}

TEST(detached)
{
#pragma omp parallel
#pragma omp single
	fulfilled_by_creator();
}

static atomic_int fulfilled;

static void *fulfil(void *event)
{
	usleep(20000);
	atomic_fetch_add(&fulfilled, 1);
	omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
	return NULL;
}

/* In a nested region of one thread tasks run at once until one is detached. */
TEST(detached_alone)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp parallel num_threads(1)
	{
		omp_event_handle_t event, inner, outer;
		int body = 0, at_once = 0;
		pthread_t other;

#pragma omp task shared(at_once)
		at_once = 1;
		CHECK(at_once);
		/* In the frame of an undeferred task, and in a taskgroup. */
#pragma omp task
#pragma omp taskgroup
		fulfilled_by_creator();
		/* The one outside of the taskgroup is not waited for at its end. */
#pragma omp task detach(outer) shared(body)
		body++;
#pragma omp taskgroup
		{
#pragma omp task detach(inner) depend(out : inner) shared(body)
			body++;
			CHECK(!pthread_create(&other, NULL, fulfil, (void *)(uintptr_t)inner));
		}
		CHECK(atomic_load(&fulfilled) == 1 && !pthread_join(other, NULL));
		omp_fulfill_event(outer);
#pragma omp taskwait
		CHECK(body == 2);
#pragma omp task detach(event) shared(body)
		body = 5;
		CHECK(!pthread_create(&other, NULL, fulfil, (void *)(uintptr_t)event));
#pragma omp barrier
		CHECK(body == 5 && atomic_load(&fulfilled) == 2 && !pthread_join(other, NULL));
		CHECK(omp_get_level() == 2 && omp_get_num_threads() == 1);
		/* In a second such region, and in a region inside it. */
#pragma omp parallel num_threads(1)
		{
			fulfilled_by_creator();
#pragma omp parallel num_threads(1)
			fulfilled_by_creator();
		}
#pragma omp task if (0) detach(event)
		omp_fulfill_event(event);
#pragma omp task final(1)
		{
			omp_event_handle_t final;

#pragma omp task detach(final)
			omp_fulfill_event(final);
		}
	}
}

/* The compiler also copies the data of a task if (0), with the event in it. */
TEST(detached_copied)
{
	int count = omp_get_max_threads() + 1;

#pragma omp parallel
#pragma omp single
	{
		int block[count];
		omp_event_handle_t event;

		block[count - 1] = 7;
#pragma omp task if (0) detach(event) firstprivate(block)
		{
			CHECK(block[count - 1] == 7);
			omp_fulfill_event(event);
		}
	}
}

/* A task has its parent's control variables of the time of its creation. */
TEST(control_variables)
{
	int inside = 0, after = 0;

#pragma omp parallel num_threads(1)
	{
		omp_set_num_threads(3);
#pragma omp task shared(inside, after)
		{
			inside = omp_get_max_threads();
			omp_set_num_threads(9);
#pragma omp task shared(after)
			after = omp_get_max_threads();
		}
		omp_set_num_threads(5);
#pragma omp taskwait
		CHECK(omp_get_max_threads() == 5);
	}
	CHECK(inside == 3 && after == 9);
}

/*
 * A task waits for a lock inside a region of its own. The lock's owner waits for a task that runs
 * in the waiter's thread meanwhile. The waiter then continues with its own state.
 */
TEST(waits_inside)
{
	atomic_int held = 0, ran = 0;
	omp_event_handle_t event;
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num() == 1) {
#pragma omp task detach(event)
		atomic_fetch_add(&ran, 1);
		omp_set_lock(&lock);
		atomic_store(&held, 1);
#pragma omp taskwait
		omp_unset_lock(&lock);
	} else {
		test_yield_until(atomic_load(&held));
		/* Begun after the next. */
#pragma omp task
		{
			CHECK(!omp_in_final() && omp_get_level() == 1);
			atomic_fetch_add(&ran, 1);
			omp_fulfill_event(event);
		}
#pragma omp task final(1)
		{
#pragma omp parallel num_threads(1)
			{
				usleep(20000);
				omp_set_lock(&lock);
				CHECK(!omp_in_final() && omp_get_level() == 2);
				omp_unset_lock(&lock);
			}
			CHECK(omp_in_final() && omp_get_level() == 1 && atomic_load(&ran) == 2);
		}
	}
	omp_destroy_lock(&lock);
}

/*
 * The threads of the previous region are released one by one, thread 0 first: it makes tasks in the
 * next region while threads still wait that are not in it or have not begun it.
 */
TEST(regions_apart)
{
	enum { MOST = 16, TASKS = 20 };

	for (int turn = 0; turn < 40; turn++) {
		atomic_int begun[MOST] = { 0 }, ran = 0;

#pragma omp parallel num_threads(MOST)
		if (omp_get_thread_num())
			usleep(omp_get_thread_num() == MOST - 1 ? 3000 : 2000);
#pragma omp parallel num_threads(turn % 2 ? 2 : MOST)
		{
			atomic_store(&begun[omp_get_thread_num()], 1);
#pragma omp master
			for (int i = 0; i < TASKS; i++) {
#pragma omp task
				{
					CHECK(omp_get_thread_num() < omp_get_num_threads());
					CHECK(atomic_load(&begun[omp_get_thread_num()]));
					spin(5000);
					atomic_fetch_add(&ran, 1);
				}
			}
		}
		CHECK(atomic_load(&ran) == TASKS);
	}
}

/* What the compiler calls. */
void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,
	       long alignment, _Bool condition, unsigned int flags, void **depend, int priority,
	       void *detach);

struct watched {
	struct watched *self;		/* as its creator has it */
	atomic_int *queued;
	atomic_int *wait, *ran;
	int depth;
};

static void run_watched(void *data);

static void create(struct watched watched)
{
	watched.self = &watched;
	GOMP_task(run_watched, &watched, NULL, sizeof(watched), _Alignof(struct watched), true, 0,
		  NULL, 0, NULL);
}

/* A queued task has a copy of its data. */
static void run_watched(void *data)
{
	struct watched *watched = data;

	if (watched != watched->self)
		atomic_fetch_add(watched->queued, 1);
	for (int i = 0; i < 2 && watched->depth; i++)
		create((struct watched){ .queued = watched->queued, .depth = watched->depth - 1 });
	if (watched->depth) {
#pragma omp taskwait
	}
	while (watched->wait && !atomic_load(watched->wait))
		sched_yield();
	if (watched->ran)
		atomic_fetch_add(watched->ran, 1);
}

/* How many of 60 tasks are queued, without thieves. */
static int queued_of_many(void)
{
	atomic_int queued = 0;

#pragma omp taskgroup
	for (int i = 0; i < 60; i++)
		create((struct watched){ .queued = &queued });
	return atomic_load(&queued);
}

/* Tasks are queued for thieves; few, where few are stolen, as in a recursion. */
TEST(queues)
{
	enum { DEPTH = 12, ALL = (2 << DEPTH) - 1 };
	atomic_int held = 0, goes = 0, queued = 0, stolen = 0;

	/* One thread, with priorities. */
#pragma omp parallel num_threads(1)
	CHECK(queued_of_many() == 4);
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num() == 0) {
		/* It holds thread 1, which would steal. */
		create((struct watched){ .queued = &queued, .wait = &goes, .ran = &held });
		test_yield_until(atomic_load(&queued));
		CHECK(queued_of_many() == 24);
		atomic_store(&queued, 0);
#pragma omp taskgroup
		create((struct watched){ .queued = &queued, .depth = DEPTH });
		CHECK(atomic_load(&queued) < ALL / 2);
		CHECK(queued_of_many() == 4);
		atomic_store(&goes, 1);
		for (int i = 0; i < 200; i++) {
			create((struct watched){ .queued = &queued, .ran = &stolen });
			while (atomic_load(&stolen) == i)
				sched_yield();
		}
		atomic_store(&goes, 0);
		atomic_store(&queued, 0);
		create((struct watched){ .queued = &queued, .wait = &goes });
		test_yield_until(atomic_load(&queued));
		CHECK(queued_of_many() == 24);
		atomic_store(&goes, 1);
	}
}

static atomic_int outlives;
static omp_nest_lock_t nest;

static void run_outliving(void *data)
{
	CHECK(atomic_load(&outlives) == 1 && omp_get_max_threads() == 9);
	atomic_store(&outlives, 2);
}

/* Only the barrier waits for its child. */
static void run_outlived(void *data)
{
	struct watched *watched = data;

	CHECK(watched == watched->self);
	omp_set_nest_lock(&nest);
	omp_set_num_threads(9);
#pragma omp taskyield
	GOMP_task(run_outliving, NULL, NULL, 0, 1, true, 0, NULL, 0, NULL);
	CHECK(!atomic_load(&outlives) && omp_get_max_threads() == 9);
	omp_set_num_threads(8);
	CHECK(omp_test_nest_lock(&nest) == 2);
	omp_unset_nest_lock(&nest);
	omp_unset_nest_lock(&nest);
	CHECK(omp_get_max_threads() == 8);
}

/* A task that runs at once, in its creator's frame, is moved before it may be outlived. */
TEST(outlived)
{
	omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(1)
	{
		atomic_int queued = 0;
		struct watched watched = { .self = &watched };

		for (int i = 0; i < 4; i++)
			create((struct watched){ .queued = &queued });
		GOMP_task(run_outlived, &watched, NULL, sizeof(watched), _Alignof(struct watched),
			  true, 0, NULL, 0, NULL);
		atomic_store(&outlives, 1);
#pragma omp barrier
		CHECK(atomic_load(&outlives) == 2);
	}
	omp_destroy_nest_lock(&nest);
}

/* A task of high priority begins next, also from a taskloop and with dependences. */
TEST(priorities)
{
	enum { NORMAL = 2, HIGH = 5 };
	atomic_int ran = 0;

	CHECK(omp_get_max_task_priority() == 1);
#pragma omp parallel num_threads(1)
	{
		int chain = 0;

		(void)chain;
#pragma omp task priority(1)
		CHECK(atomic_fetch_add(&ran, 1) < HIGH);
#pragma omp taskloop nogroup num_tasks(2) priority(7)
		for (int i = 0; i < 2; i++)
			CHECK(atomic_fetch_add(&ran, 1) < HIGH);
#pragma omp task priority(1) depend(out : chain)
		CHECK(atomic_fetch_add(&ran, 1) < HIGH);
#pragma omp task priority(1) depend(in : chain)
		CHECK(atomic_fetch_add(&ran, 1) < HIGH);
		for (int i = 0; i < NORMAL; i++) {
#pragma omp task
			CHECK(atomic_fetch_add(&ran, 1) >= HIGH);
		}
	}
	CHECK(atomic_load(&ran) == NORMAL + HIGH);
}

TEST(loops)
{
	static int hits[1000];
	int sum = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskloop grainsize(7)
		for (int i = 0; i < 1000; i++)
			hits[i]++;
#pragma omp taskloop num_tasks(5) reduction(+ : sum)
		for (unsigned long long i = 1000; i > 0; i--)
			sum += hits[i - 1];
	}
	CHECK(sum == 1000);
}

TEST(reductions)
{
	int sum = 0, all = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskgroup task_reduction(+ : sum)
		for (int i = 1; i <= 100; i++) {
#pragma omp task in_reduction(+ : sum)
			{
#pragma omp task in_reduction(+ : sum)
				sum += i;
			}
		}
	}
	CHECK(sum == 5050);
#pragma omp parallel for reduction(task, + : all)
	for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : all)
		all += i;
	}
	CHECK(all == 4950);
}

/* A list, nearly: each node makes a leaf and the rest, and waits for neither. */
#define NODES 40000

static int nodes;

static void visit(int rest)
{
#pragma omp atomic
	nodes++;
#pragma omp task
	{
#pragma omp atomic
		nodes++;
	}
	if (rest > 1) {
#pragma omp task
		visit(rest - 1);
	}
}

/* No stack is as deep as that. */
TEST(long_chains)
{
#pragma omp parallel
#pragma omp single
	visit(NODES);
	CHECK(nodes == 2 * NODES);
}

static void take(int *taken)
{
#pragma omp critical
	++*taken;
}

/* Tasks made under a lock that they take do not run before the lock is released. */
TEST(made_under_a_lock)
{
	omp_nest_lock_t nested;
	omp_lock_t lock;
	int taken = 0;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nested);
#pragma omp parallel
#pragma omp single
	{
		omp_set_lock(&lock);
		omp_set_nest_lock(&nested);
		for (int i = 0; i < 100; i++) {
#pragma omp task
			{
				omp_set_lock(&lock);
				omp_set_nest_lock(&nested);
				taken++;
				omp_unset_nest_lock(&nested);
				omp_unset_lock(&lock);
			}
		}
		omp_unset_nest_lock(&nested);
		omp_unset_lock(&lock);
#pragma omp taskwait
#pragma omp critical
		for (int i = 0; i < 100; i++) {
#pragma omp task
			take(&taken);
		}
	}
	CHECK(taken == 200);
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nested);
}

TEST_MAIN(NULL, NULL)
