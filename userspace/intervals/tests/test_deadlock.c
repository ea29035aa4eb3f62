// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reports of tasks that wait for each other, and no report while a foreign thread or a system call
 * still runs. Each case is a process of its own, since a deadlock does not end.
 */
#include <sys/mman.h>

#include <intervals_sync.h>

#include "test_child.h"

#define AFTER_MS 100
#define LATER_US (6 * AFTER_MS * 1000)

/* How many stacks can still be mapped; -1: any number. */
static _Atomic int stacks_left = -1;

void *__real_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
	if (flags & MAP_STACK && stacks_left >= 0 && atomic_fetch_sub(&stacks_left, 1) <= 0) {
		stacks_left = 0;
		return MAP_FAILED;
	}
	return __real_mmap64(at, bytes, access, flags, file, offset);
}

static struct ivl_config config_for(unsigned int workers)
{
	struct ivl_config config = test_config(workers);

	config.deadlock_ms = AFTER_MS;
	config.fibers_per_worker = 4;
	return config;
}

/* These statements print a first line and one line with each of these words. */
#define says(statements, ...) do { \
	const char *const words_[] = { "intervals: deadlock: ", __VA_ARGS__ }; \
	test_on_counts(workers) { \
		const struct ivl_config config_ = config_for(workers); \
		says_words(test_begin(&config_, statements), words_, \
			   sizeof(words_) / sizeof(*words_)); \
	} \
} while (0)

static void says_words(struct test_process process, const char *const *words, int count)
{
	char said[TEST_SAID_BYTES];

	test_listen(&process, said, count);
	test_end(&process, true);
	test_says(said, words, count);
}

#define says_nothing(statements) do { \
	test_on_counts(workers) { \
		const struct ivl_config config_ = config_for(workers); \
		test_ends_silently(test_begin(&config_, statements)); \
	} \
} while (0)

/* Deadlocks. */

static int join(ivl_interval *interval)
{
	int error = ivl_join(ivl_end_point(interval));

	ivl_release(interval);
	return error;
}

static ivl_guard *guard;

static int join_what_needs_it(ivl_interval *self, void *arg)
{
	ivl_interval *made = ivl_create(ivl_parent(self), "needy", test_nothing, NULL, NULL);

	ivl_add_guard(made, guard);
	ivl_schedule();
	return join(made);
}

OK_BODY(hold_guard, void *arg)
{
	ivl_interval *holder = ivl_create(self, "holder", join_what_needs_it, NULL, NULL);

	ivl_add_guard(holder, guard);
	ivl_release(holder);
}

static void guard_and_join(ivl_runtime *runtime, test_enter *enter)
{
	guard = ivl_guard_create(runtime, "till");
	enter(runtime, hold_guard, NULL);
}

TEST(guard)
{
	says(guard_and_join(runtime, ivl_run), "interval holder waits for the end of interval "
	     "needy, which waits for guard till, which interval holder holds\n");
	says(guard_and_join(runtime, ivl_run_here), "interval holder waits for the end of interval "
	     "needy, which waits for guard till, which interval holder holds\n");
}

static _Atomic(ivl_interval *) futures[3];

static ivl_interval *future(int number)
{
	while (!futures[number])
		usleep(100);
	return futures[number];
}

static void join_future(void *arg)
{
	ivl_join(ivl_end_point(future(*(int *)arg)));
}

/* One waits itself, one in an async, one in a child. */
OK_BODY(ring_0, void *arg)
{
	int next = 1;

	join_future(&next);
}

static void join_by_async(void *arg)
{
	ivl_async(join_future, arg, sizeof(int), NULL);
}

static int ring_1(ivl_interval *self, void *arg)
{
	int next = 2;

	return ivl_finish(join_by_async, &next);
}

OK_BODY(ring_2, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[2];
	int next = 0;

	for (int i = 0; i < 2; i++)
		ivl_spawn(&scope, &tasks[i], join_future, &next);
	ivl_sync(&scope);
}

OK_BODY(make_ring, void *arg)
{
	static ivl_body *const bodies[] = { ring_0, ring_1, ring_2 };
	static const char *const names[] = { "zero", "one", "two" };

	for (int i = 0; i < 3; i++)
		futures[i] = ivl_launch(names[i], bodies[i], NULL, NULL);
}

TEST(ring)
{
	says(ivl_run(runtime, make_ring, NULL),
	     "interval zero waits for the end of interval one, whose body has not returned\n",
	     "interval one waits for asyncs of a finish or group: ",
	     "a task of interval one waits for the end of interval two, "
	     "whose body has not returned\n",
	     "waits for the end of interval zero, whose body has not returned\n");
}

static int join_unscheduled(ivl_interval *self, void *arg)
{
	return ivl_join(ivl_end_point(arg));
}

static int keep_unscheduled(ivl_interval *self, void *arg)
{
	/* Launched, so it is already scheduled. */
	ivl_interval *late = ivl_create(self, "late", test_nothing, NULL, NULL);
	ivl_interval *joiner = ivl_launch("joiner", join_unscheduled, late, NULL);

	return join(joiner);
}

TEST(unscheduled)
{
	says(ivl_run(runtime, keep_unscheduled, NULL),
	     "interval joiner waits for the end of interval late, which is not scheduled",
	     "interval keep_unscheduled waits for the end of interval joiner, "
	     "whose body has not returned\n");
}

static ivl_numa_mutex *mutexes[2];
static ivl_numa_barrier *barrier;

OK_BODY(lock_both, void *arg)
{
	ivl_numa_mutex *const *mutex = arg;

	ivl_numa_mutex_lock(mutex[0]);
	ivl_numa_barrier_wait(barrier);
	ivl_numa_mutex_lock(mutex[1]);
}

OK_BODY(lock_crosswise, void *arg)
{
	static ivl_numa_mutex *orders[2][2];

	for (int i = 0; i < 2; i++) {
		orders[i][0] = mutexes[i];
		orders[i][1] = mutexes[!i];
		ivl_release(ivl_launch(i ? "right" : "left", lock_both, orders[i], NULL));
	}
}

static void crosswise(ivl_runtime *runtime)
{
	ivl_numa_mutex_init(&mutexes[0]);
	ivl_numa_mutex_init(&mutexes[1]);
	ivl_numa_barrier_init(&barrier, 2);
	ivl_run(runtime, lock_crosswise, NULL);
}

TEST(mutexes)
{
	says(crosswise(runtime), "interval left waits for a mutex owned by interval right\n",
	     "interval right waits for a mutex owned by interval left\n");
}

/* More tasks at a barrier than there can be stacks. */

#define CROWD 100

static void come(void *arg)
{
	ivl_numa_barrier_wait(barrier);
}

static int crowd(ivl_interval *self, void *arg)
{
	struct ivl_group group = IVL_GROUP_INIT;

	stacks_left = 20;
	for (int i = 0; i < CROWD; i++)
		ivl_group_async_by(&group, IVL_HELP_FIRST, come, NULL, 0, NULL);
	return ivl_group_wait(&group);
}

OK_BODY(crowd_of_children, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[CROWD];

	stacks_left = 20;
	for (int i = 0; i < CROWD; i++)
		ivl_spawn(&scope, &tasks[i], come, NULL);
	ivl_sync(&scope);
}

static void too_many(ivl_runtime *runtime, ivl_body *body)
{
	ivl_numa_barrier_init(&barrier, CROWD);
	ivl_run(runtime, body, NULL);
}

TEST(crowd)
{
	says(too_many(runtime, crowd), "waits at a barrier for 100, of which ",
	     "interval crowd waits for asyncs of a finish or group: ",
	     " tasks have not begun: no memory for their stacks");
	says(too_many(runtime, crowd_of_children),
	     " times: a task of interval crowd_of_children waits at a barrier",
	     "intervals:   interval crowd_of_children waits at a barrier for 100, of which ",
	     " tasks have not begun: no memory for their stacks");
}

/* No deadlocks. */

static ivl_runtime *other;
static ivl_numa_cond *cond;
static _Atomic int waits;

OK_BODY(sleep_in_kernel, void *arg)
{
	usleep(LATER_US);
}

static int join_one_that_sleeps(ivl_interval *self, void *arg)
{
	return join(ivl_launch("sleeper", sleep_in_kernel, NULL, NULL));
}

static void in_kernel(ivl_runtime *runtime)
{
	ivl_run(runtime, join_one_that_sleeps, NULL);
	/* No task waits. */
	usleep(LATER_US);
	ivl_run(runtime, test_nothing, NULL);
}

static int run_other(ivl_interval *self, void *arg)
{
	return ivl_run(other, sleep_in_kernel, NULL);
}

static int join_run_other(ivl_interval *self, void *arg)
{
	return join(ivl_launch(NULL, run_other, NULL, NULL));
}

static void in_another_runtime(ivl_runtime *runtime)
{
	struct ivl_config config = test_config(1);

	other = test_start(&config);
	ivl_run(runtime, join_run_other, NULL);
	ivl_stop(other);
}

OK_BODY(wait_for_signal, void *arg)
{
	ivl_numa_mutex_lock(mutexes[0]);
	waits = 1;
	ivl_numa_cond_wait(cond, mutexes[0]);
	ivl_numa_mutex_unlock(mutexes[0]);
}

OK_BODY(wait_for_mutex, void *arg)
{
	ivl_numa_mutex_lock(mutexes[1]);
	ivl_numa_mutex_unlock(mutexes[1]);
}

OK_BODY(wait_at_barrier, void *arg)
{
	ivl_numa_barrier_wait(barrier);
}

/* `second` ends at once, `first` when another thread lets it. */
static int join_both(ivl_interval *self, void *arg)
{
	ivl_body *body = (ivl_body *)arg;
	ivl_interval *first = ivl_launch("first", body, NULL, NULL);
	ivl_interval *second = ivl_launch("second", test_nothing, NULL, NULL);
	int error = join(second);

	return join(first) | error;
}

static void *signal_later(void *us)
{
	test_sleep_until(waits);
	usleep(*(useconds_t *)us);
	ivl_numa_mutex_lock(mutexes[0]);
	ivl_numa_cond_signal(cond);
	ivl_numa_mutex_unlock(mutexes[0]);
	return NULL;
}

static void run_and_signal(ivl_runtime *runtime, ivl_body *body, useconds_t us)
{
	pthread_t thread;

	ivl_numa_mutex_init(&mutexes[0]);
	ivl_numa_cond_init(&cond);
	pthread_create(&thread, NULL, signal_later, &us);
	ivl_run(runtime, join_both, (void *)body);
	pthread_join(thread, NULL);
}

static int sleep_after_signal(ivl_interval *self, void *arg)
{
	return wait_for_signal(self, arg) | sleep_in_kernel(self, arg);
}

static _Atomic int is_locked;

static void *unlock_later(void *arg)
{
	ivl_numa_mutex_lock(mutexes[1]);
	is_locked = 1;
	usleep(LATER_US);
	ivl_numa_mutex_unlock(mutexes[1]);
	return NULL;
}

static void by_unlock(ivl_runtime *runtime)
{
	pthread_t thread;

	ivl_numa_mutex_init(&mutexes[1]);
	pthread_create(&thread, NULL, unlock_later, NULL);
	test_sleep_until(is_locked);
	ivl_run(runtime, join_both, (void *)wait_for_mutex);
	pthread_join(thread, NULL);
}

static void *come_later(void *arg)
{
	usleep(LATER_US);
	come(arg);
	return NULL;
}

static void by_the_last(ivl_runtime *runtime)
{
	pthread_t thread;

	ivl_numa_barrier_init(&barrier, 2);
	pthread_create(&thread, NULL, come_later, NULL);
	ivl_run(runtime, join_both, (void *)wait_at_barrier);
	pthread_join(thread, NULL);
}

TEST(goes_on)
{
	says_nothing(in_kernel(runtime));
	says_nothing(in_another_runtime(runtime));
	says_nothing(run_and_signal(runtime, wait_for_signal, LATER_US));
	says_nothing(by_unlock(runtime));
	says_nothing(by_the_last(runtime));
}

/* A tied runtime wakes its workers one by one; the last to sleep checks for a deadlock. */
TEST(goes_on_elsewhere)
{
	test_on_counts(workers) {
		struct ivl_config config = config_for(workers);

		config.tied = true;
		test_ends_silently(test_begin(&config, run_and_signal(runtime, sleep_after_signal,
								      AFTER_MS * 800)));
	}
}

/* Workers sleep and wake while one checks for a deadlock. */

OK_BODY(wait_often, void *arg)
{
	for (int i = 0; i < 30; i++) {
		ivl_interval *made = ivl_launch(NULL, test_nothing, NULL, NULL);

		usleep(i % 3 * 1000);
		join(made);
	}
}

TEST(often)
{
	test_on_counts(workers) {
		struct ivl_config config = test_config(workers);

		config.deadlock_ms = 1;
		TEST_RUNTIME(runtime, &config);
		for (int i = 0; i < 10; i++) {
			test_run(runtime, wait_often, NULL);
			usleep(2000);
		}
	}
}

TEST(environment)
{
	struct ivl_config config;

	setenv("INTERVALS_DEADLOCK", "1500", 1);
	assert_int_equal(ivl_config_init(&config), 0);
	assert_int_equal(config.deadlock_ms, 1500);
	setenv("INTERVALS_DEADLOCK", "soon", 1);
	assert_int_equal(ivl_config_init(&config), EINVAL);
	assert_string_equal(ivl_last_error(),
			    "INTERVALS_DEADLOCK=soon: not a number from 0 to 1048576");
	unsetenv("INTERVALS_DEADLOCK");
	assert_int_equal(ivl_config_init(&config), 0);
	assert_int_equal(config.deadlock_ms, 0);
}

TEST_MAIN(NULL, NULL)
