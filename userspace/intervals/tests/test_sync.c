// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mutex, condition variable and barrier of intervals_sync.h under a crowd of threads
 * and tasks, eight for each CPU or more, on two nodes that the test makes up.
 */
#include "test_runtimes.h"

#include "sync/mutex.h"
#include "test_allocation.h"

/*
 * In place of src/sync/node.c: every second thread is on the second node. A function that takes
 * the address of the thread's variable is a leaf, in which no fiber switches.
 */
static unsigned int nodes = 2;

unsigned int ivl_sync_nodes(void)
{
	return nodes;
}

__attribute__((noinline)) unsigned int ivl_sync_node(unsigned int below)
{
	static _Atomic unsigned int threads;
	static __thread unsigned int mine;

	if (!mine)
		mine = atomic_fetch_add(&threads, 1) + 1;
	return mine % below;
}

/* Members 0 to threads - 1 of a crowd are threads, those after them tasks. */
struct crowd {
	unsigned int threads, tasks;
	void (*member)(unsigned int number, void *arg);
	void *arg;
	_Atomic unsigned int started;
};

static void *thread_main(void *arg)
{
	struct crowd *crowd = arg;

	crowd->member(atomic_fetch_add(&crowd->started, 1), crowd->arg);
	return NULL;
}

static void some_tasks(size_t begin, size_t end, void *arg)
{
	struct crowd *crowd = arg;

	for (size_t i = begin; i < end; i++)
		crowd->member(crowd->threads + (unsigned int)i, crowd->arg);
}

OK_BODY(all_tasks, struct crowd *crowd)
{
	ivl_parallel_for(0, crowd->tasks, 1, some_tasks, crowd);
}

static void run_crowd(unsigned int threads, unsigned int tasks,
		      void (*member)(unsigned int number, void *arg), void *arg)
{
	struct crowd crowd = { .threads = threads, .tasks = tasks, .member = member, .arg = arg };
	struct ivl_config config = test_config(2);
	ivl_runtime *runtime = tasks ? test_start(&config) : NULL;
	pthread_t thread[threads ? threads : 1];

	for (unsigned int i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, thread_main, &crowd), 0);
	if (tasks)
		test_run(runtime, all_tasks, &crowd);
	for (unsigned int i = 0; i < threads; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	if (tasks)
		ivl_stop(runtime);
}

/* A failed assertion must not jump out of a thread that is not cmocka's. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

enum { THREADS = 12, TASKS = 12 };

/* Of each member; fewer on one CPU, where every hand-off waits for the CPU. */
static int turns = TEST_SLOW ? 300 : 1000;

/* Mutex. */

struct counting {
	ivl_numa_mutex *mutex;
	long count;			/* not atomic: the mutex' */
	/* How often one node has had it while the other waited, now and at most. */
	struct ivl_cohort *holder;
	unsigned int row, longest;
};

static void count_row(struct counting *counting)
{
	struct ivl_cohort_lock *lock = &counting->mutex->lock;

	if (nodes == 1 || lock->holder != counting->holder ||
	    !ivl_guard_queue_contended(&lock->global))
		counting->row = 0;
	else if (++counting->row > counting->longest)
		counting->longest = counting->row;
	counting->holder = lock->holder;
}

static void count_member(unsigned int number, void *arg)
{
	struct counting *counting = arg;

	for (int i = 0; i < turns; i++) {
		if (number % 4 || ivl_numa_mutex_trylock(counting->mutex))
			CHECK(!ivl_numa_mutex_lock(counting->mutex));
		counting->count++;
		count_row(counting);
		/* Some yield while they hold it. */
		if (i % 64 == 0)
			sched_yield();
		CHECK(!ivl_numa_mutex_unlock(counting->mutex));
	}
}

static void count_with(unsigned int threads, unsigned int tasks)
{
	struct counting counting = { 0 };

	assert_int_equal(ivl_numa_mutex_init(&counting.mutex), 0);
	run_crowd(threads, tasks, count_member, &counting);
	assert_int_equal(counting.count, (long)(threads + tasks) * turns);
	print_message("# the other node waited for %u in a row\n", counting.longest);
	assert_true(counting.longest <= IVL_NUMA_LOCAL_PASSES);
	assert_int_equal(ivl_numa_mutex_destroy(counting.mutex), 0);
}

TEST(mutex)
{
	for (nodes = 1; nodes <= 2; nodes++) {
		count_with(THREADS, 0);
		count_with(0, TASKS);
		count_with(THREADS, TASKS);
	}
	nodes = 2;
}

static void on_one_cpu(void (*test)(void **state))
{
	cpu_set_t before, one;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	turns /= 10;
	test(NULL);
	turns *= 10;
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(mutex_one_cpu)
{
	on_one_cpu(test_mutex);
}

THREAD(other_thread, ivl_numa_mutex *mutex)
{
	CHECK(ivl_numa_mutex_trylock(mutex) == EBUSY);
	CHECK(ivl_numa_mutex_unlock(mutex) == EPERM);
}

TEST(mutex_errors)
{
	ivl_numa_mutex *mutex;
	pthread_t thread;

	assert_int_equal(ivl_numa_mutex_init(&mutex), 0);
	assert_int_equal(ivl_numa_mutex_unlock(mutex), EPERM);
	assert_int_equal(ivl_numa_mutex_lock(mutex), 0);
	assert_int_equal(ivl_numa_mutex_lock(mutex), EDEADLK);
	assert_int_equal(ivl_numa_mutex_trylock(mutex), EBUSY);
	assert_int_equal(ivl_numa_mutex_destroy(mutex), EBUSY);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, mutex), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(ivl_numa_mutex_unlock(mutex), 0);
	assert_int_equal(ivl_numa_mutex_unlock(mutex), EPERM);
	assert_int_equal(ivl_numa_mutex_destroy(mutex), 0);
}

/* Two threads on two nodes share one; the last to leave destroys it. */
struct sharing {
	_Atomic(ivl_numa_mutex *) mutex;
	int users;			/* the mutex' */
	_Atomic int begun, over;
};

static void use_and_leave(struct sharing *sharing)
{
	ivl_numa_mutex *mutex = atomic_load(&sharing->mutex);
	bool last;

	CHECK(!ivl_numa_mutex_lock(mutex));
	last = !--sharing->users;
	CHECK(!ivl_numa_mutex_unlock(mutex));
	if (last)
		CHECK(!ivl_numa_mutex_destroy(mutex));
}

static void share(unsigned int number, void *arg)
{
	struct sharing *sharing = arg;

	for (int i = 1; i <= 20 * turns; i++) {
		if (number) {
			while (atomic_load(&sharing->begun) < i)
				;
		} else {
			ivl_numa_mutex *mutex;

			while (atomic_load(&sharing->over) < i - 1)
				;
			CHECK(!ivl_numa_mutex_init(&mutex));
			atomic_store(&sharing->mutex, mutex);
			sharing->users = 2;
			atomic_store(&sharing->begun, i);
		}
		use_and_leave(sharing);
		if (number)
			atomic_store(&sharing->over, i);
	}
}

TEST(mutex_last_user)
{
	struct sharing sharing = { .users = 0 };

	run_crowd(2, 0, share, &sharing);
}

/* The owner is the task, and neither the worker nor the stack that it has run on. */

static ivl_numa_mutex *left_locked, *held;

static int lock_and_end(ivl_interval *self, void *arg)
{
	return arg ? ivl_numa_mutex_trylock(left_locked) : ivl_numa_mutex_lock(left_locked);
}

OK_BODY(find_locked, void *arg)
{
	CHECK(ivl_numa_mutex_trylock(left_locked) == EBUSY);
	CHECK(ivl_numa_mutex_unlock(left_locked) == EPERM);
}

static void unlock_others(void *arg)
{
	CHECK(ivl_numa_mutex_unlock(held) == EPERM);
}

static int hold_and_sync(ivl_interval *self, void *arg)
{
	CHECK(ivl_numa_mutex_lock(held) == 0);
	spawn_and_sync(3, unlock_others, NULL);
	spawn_and_sync(1, unlock_others, NULL);
	return ivl_numa_mutex_unlock(held);
}

static void own_mutexes(const struct ivl_config *config, bool locked)
{
	TEST_RUNTIME(runtime, config);

	assert_int_equal(ivl_run(runtime, lock_and_end, locked ? held : NULL), locked ? EBUSY : 0);
	test_run(runtime, find_locked, NULL);
	test_run(runtime, hold_and_sync, NULL);
}

TEST(mutex_owner)
{
	bool locked = false;

	assert_int_equal(ivl_numa_mutex_init(&left_locked), 0);
	assert_int_equal(ivl_numa_mutex_init(&held), 0);
	test_on_sizes(config) {
		for (config.policy = 0; config.policy < IVL_POLICIES; config.policy++) {
			own_mutexes(&config, locked);
			locked = true;
		}
	}
	assert_int_equal(ivl_numa_mutex_destroy(held), 0);
}

/* Condition variable: a buffer of two slots between producers and consumers. */

struct buffer {
	ivl_numa_mutex *mutex;
	ivl_numa_cond *not_full, *not_empty;
	int filled;
	long put, taken;
};

static void buffer_member(unsigned int number, void *arg)
{
	struct buffer *buffer = arg;
	const bool puts = number % 2;
	ivl_numa_cond *mine = puts ? buffer->not_full : buffer->not_empty;
	ivl_numa_cond *others = puts ? buffer->not_empty : buffer->not_full;

	for (int i = 0; i < turns; i++) {
		CHECK(!ivl_numa_mutex_lock(buffer->mutex));
		while (buffer->filled == (puts ? 2 : 0))
			CHECK(!ivl_numa_cond_wait(mine, buffer->mutex));
		buffer->filled += puts ? 1 : -1;
		*(puts ? &buffer->put : &buffer->taken) += 1;
		if (i % 2)
			ivl_numa_cond_signal(others);
		CHECK(!ivl_numa_mutex_unlock(buffer->mutex));
		/* Without the mutex, too. */
		if (i % 2 == 0)
			ivl_numa_cond_signal(others);
	}
}

TEST(cond_signal)
{
	struct buffer buffer = { 0 };

	assert_int_equal(ivl_numa_mutex_init(&buffer.mutex), 0);
	assert_int_equal(ivl_numa_cond_init(&buffer.not_full), 0);
	assert_int_equal(ivl_numa_cond_init(&buffer.not_empty), 0);
	run_crowd(THREADS, TASKS, buffer_member, &buffer);
	assert_int_equal(buffer.filled, 0);
	assert_int_equal(buffer.put, (THREADS + TASKS) / 2 * turns);
	assert_int_equal(buffer.taken, buffer.put);
	assert_int_equal(ivl_numa_cond_destroy(buffer.not_full), 0);
	assert_int_equal(ivl_numa_cond_destroy(buffer.not_empty), 0);
	assert_int_equal(ivl_numa_mutex_destroy(buffer.mutex), 0);
}

TEST(cond_one_cpu)
{
	on_one_cpu(test_cond_signal);
}

/* The last to arrive starts the next round: a barrier made of a condition variable. */
struct rounds {
	ivl_numa_mutex *mutex;
	ivl_numa_cond *next;
	unsigned int members, here;
	int round;
	long waits;
};

static void rounds_member(unsigned int number, void *arg)
{
	struct rounds *rounds = arg;

	for (int i = 0; i < turns / 10; i++) {
		CHECK(!ivl_numa_mutex_lock(rounds->mutex));
		CHECK(rounds->round == i);
		if (++rounds->here == rounds->members) {
			CHECK(ivl_numa_cond_destroy(rounds->next) ==
			      (rounds->members > 1 ? EBUSY : 0));
			rounds->here = 0;
			rounds->round++;
			ivl_numa_cond_broadcast(rounds->next);
		} else {
			/* It returns after the broadcast only. */
			CHECK(!ivl_numa_cond_wait(rounds->next, rounds->mutex));
			CHECK(rounds->round == i + 1);
			rounds->waits++;
		}
		CHECK(!ivl_numa_mutex_unlock(rounds->mutex));
	}
}

TEST(cond_broadcast)
{
	struct rounds rounds = { .members = THREADS + TASKS };

	assert_int_equal(ivl_numa_mutex_init(&rounds.mutex), 0);
	assert_int_equal(ivl_numa_cond_init(&rounds.next), 0);
	assert_int_equal(ivl_numa_cond_wait(rounds.next, rounds.mutex), EPERM);
	assert_int_equal(ivl_numa_cond_signal(rounds.next), 0);
	assert_int_equal(ivl_numa_cond_broadcast(rounds.next), 0);
	run_crowd(THREADS, TASKS, rounds_member, &rounds);
	assert_int_equal(rounds.waits, (rounds.members - 1) * (turns / 10));
	assert_int_equal(ivl_numa_cond_destroy(rounds.next), 0);
	assert_int_equal(ivl_numa_mutex_destroy(rounds.mutex), 0);
}

/* Barrier. */

struct meetings {
	ivl_numa_barrier *barrier;
	unsigned int members;
	int at[THREADS + TASKS];	/* not atomic: the barrier's */
	_Atomic int lasts;
};

static void meet_member(unsigned int number, void *arg)
{
	struct meetings *meetings = arg;

	for (int i = 1; i <= turns / 10; i++) {
		int serial;

		meetings->at[number] = i;
		serial = ivl_numa_barrier_wait(meetings->barrier);
		CHECK(!serial || serial == IVL_NUMA_BARRIER_SERIAL);
		if (serial)
			atomic_fetch_add(&meetings->lasts, 1);
		for (unsigned int j = 0; j < meetings->members; j++)
			CHECK(meetings->at[j] == i);
		serial = ivl_numa_barrier_wait(meetings->barrier);
	}
}

static void meet_with(unsigned int threads, unsigned int tasks)
{
	struct meetings meetings = { .members = threads + tasks };

	assert_int_equal(ivl_numa_barrier_init(&meetings.barrier, threads + tasks), 0);
	run_crowd(threads, tasks, meet_member, &meetings);
	assert_int_equal(atomic_load(&meetings.lasts), turns / 10);
	assert_int_equal(ivl_numa_barrier_destroy(meetings.barrier), 0);
}

TEST(barrier)
{
	meet_with(1, 0);
	meet_with(THREADS, 0);
	meet_with(0, TASKS);
	meet_with(THREADS, TASKS);
}

TEST(barrier_one_cpu)
{
	on_one_cpu(test_barrier);
}

struct waiter {
	ivl_numa_barrier *barrier;
	_Atomic bool begun;
};

THREAD(wait_once, struct waiter *waiter)
{
	atomic_store(&waiter->begun, true);
	ivl_numa_barrier_wait(waiter->barrier);
}

TEST(barrier_errors)
{
	struct waiter waiter = { 0 };
	pthread_t thread;

	assert_int_equal(ivl_numa_barrier_init(&waiter.barrier, 0), EINVAL);
	assert_int_equal(ivl_numa_barrier_init(&waiter.barrier, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_once, &waiter), 0);
	/* Its arrival at the barrier cannot be observed. */
	test_sleep_until(atomic_load(&waiter.begun));
	usleep(100000);
	assert_int_equal(ivl_numa_barrier_destroy(waiter.barrier), EBUSY);
	ivl_numa_barrier_wait(waiter.barrier);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(ivl_numa_barrier_destroy(waiter.barrier), 0);
}

TEST(no_memory)
{
	ivl_numa_mutex *mutex = NULL;
	ivl_numa_cond *cond = NULL;
	ivl_numa_barrier *barrier = NULL;

	/* The object and its parts on two nodes. */
	for (int left = 0; left < 3; left++) {
		test_allocations_left = left;
		assert_int_equal(ivl_numa_mutex_init(&mutex), ENOMEM);
		test_allocations_left = left;
		assert_int_equal(ivl_numa_cond_init(&cond), ENOMEM);
		test_allocations_left = left;
		assert_int_equal(ivl_numa_barrier_init(&barrier, 1), ENOMEM);
	}
	test_allocations_left = -1;
	assert_null(mutex);
	assert_null(cond);
	assert_null(barrier);
}

TEST_MAIN(NULL, NULL)
