// SPDX-License-Identifier: LGPL-2.1-or-later
/* Starting and stopping, several at once, configuration, sleeping and waking. */
#include "test_runtimes.h"

#include <signal.h>
#include <time.h>

/* How many threads can still be made; -1: any number. */
static int threads_left = -1;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *arg)
{
	if (!threads_left)
		return EAGAIN;
	if (threads_left > 0)
		threads_left--;
	return __real_pthread_create(thread, attributes, function, arg);
}

static int pin_error;
/* The CPUs that threads were bound to, in turn. */
static cpu_set_t bound[8];
static unsigned int times_bound;

int __real_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set);

int __wrap_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
	if (pin_error)
		return pin_error;
	if (times_bound < sizeof(bound) / sizeof(*bound)) {
		CPU_ZERO(&bound[times_bound]);
		memcpy(&bound[times_bound++], set, bytes < sizeof(*bound) ? bytes : sizeof(*bound));
	}
	return __real_pthread_setaffinity_np(thread, bytes, set);
}

static void count_one(void *arg)
{
	atomic_fetch_add((_Atomic int *)arg, 1);
}

CALL_BODY(count, count_one)

TEST(again_and_again)
{
	const int times = TEST_SLOW ? 200 : 10000;
	struct ivl_config config = test_config(2);
	_Atomic int runs = 0;

	for (int i = 0; i < times; i++) {
		TEST_RUNTIME(runtime, &config);

		test_run(runtime, count, (void *)&runs);
	}
	assert_int_equal(atomic_load(&runs), times);
}

struct nested {
	ivl_runtime *other;
	_Atomic int *runs;
};

BODY(run_in_other, struct nested *nested)
{
	int error = 0;

	for (int i = 0; i < 20 && !error; i++)
		error = ivl_run(nested->other, count, (void *)nested->runs);
	return error;
}

static void *foreign(void *nested)
{
	return (void *)(intptr_t)run_in_other(NULL, nested);
}

TEST(several)
{
	TEST_WORKERS(a, 2);
	TEST_WORKERS(b, 2);
	_Atomic int runs = 0;
	struct nested into_b = { b, &runs }, into_a = { a, &runs };
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, foreign,
						i % 2 ? &into_a : &into_b), 0);
	test_run(a, run_in_other, &into_b);
	test_run(b, run_in_other, &into_a);
	for (int i = 0; i < 4; i++) {
		void *error;

		pthread_join(threads[i], &error);
		assert_null(error);
	}
	assert_int_equal(atomic_load(&runs), 6 * 20);
}

/* The lists of two CPUs that this thread may use, and of both; false: there is one only. */
static bool list_cpus(char first[16], char second[16], char both[32])
{
	int cpus[2], found = 0;
	cpu_set_t allowed;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			cpus[found++] = cpu;
	}
	if (found < 2)
		return false;
	snprintf(first, 16, "%d", cpus[0]);
	snprintf(second, 16, "%d", cpus[1]);
	snprintf(both, 32, "%d,%d", cpus[0], cpus[1]);
	return true;
}

TEST(no_thread)
{
	struct ivl_config config = test_config(4);
	ivl_runtime *runtime = NULL;

	threads_left = 0;
	assert_int_equal(ivl_start(&config, &runtime), EAGAIN);
	threads_left = -1;
	assert_null(runtime);
	assert_non_null(strstr(ivl_last_error(), "worker 1 of 4"));
}

OK_BODY(count_in_parallel, void *arg)
{
	spawn_and_sync(100, count_one, arg);
}

static void run_with_fewer(unsigned int asked_for, unsigned int threads)
{
	_Atomic int runs = 0;

	threads_left = (int)threads;
	TEST_WORKERS(runtime, asked_for);
	threads_left = -1;
	assert_int_equal(ivl_worker_count(runtime), threads);
	for (int i = 0; i < 20; i++)
		test_run(runtime, count_in_parallel, (void *)&runs);
	assert_int_equal(atomic_load(&runs), 2000);
}

/* A runtime starts with fewer threads, and a process prints one warning. */
TEST(fewer_threads)
{
	static const char words[] = "intervals: threads for only 1 of 2 workers";
	const int before = dup(STDERR_FILENO);
	char said[1000] = "";
	FILE *file = tmpfile();

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	for (unsigned int asked_for = 2; asked_for <= 8; asked_for *= 2)
		for (unsigned int threads = 1; threads < asked_for; threads++)
			run_with_fewer(asked_for, threads);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	assert_non_null(fgets(said, sizeof(said), file));
	assert_memory_equal(said, words, strlen(words));
	assert_null(fgets(said, sizeof(said), file));
	fclose(file);
}

/* But not with fewer threads than given places, each of which needs one. */
TEST(fewer_threads_than_places)
{
	char first[16], second[16], both[32];
	const char *const cpus[] = { first, second };
	struct ivl_config config = test_config(3);
	ivl_runtime *runtime = NULL;

	if (!list_cpus(first, second, both))
		test_leave_out("there is one CPU only");
	config.places = IVL_PLACES_GIVEN;
	config.place_cpus = cpus;
	config.place_count = 2;
	threads_left = 1;
	assert_int_equal(ivl_start(&config, &runtime), EAGAIN);
	assert_non_null(strstr(ivl_last_error(), "threads for only 1 of 3 workers, with 2 places"));
	threads_left = 2;
	assert_int_equal(ivl_start(&config, &runtime), 0);
	threads_left = -1;
	assert_int_equal(ivl_worker_count(runtime), 2);
	assert_int_equal(ivl_place_count(runtime), 2);
	ivl_stop(runtime);
}

/* If a worker cannot be bound to its CPU, a pinned runtime does not start. */
TEST(pinned)
{
	struct ivl_config config = test_config(2);
	ivl_runtime *runtime = NULL;

	config.pin = true;
	ivl_stop(test_start(&config));
	pin_error = EINVAL;
	assert_int_equal(ivl_start(&config, &runtime), EINVAL);
	pin_error = 0;
	assert_null(runtime);
	assert_non_null(strstr(ivl_last_error(), "worker 1 on CPU"));
}

/* Each worker's first task has a stack at once; with one fiber per worker only one is made. */
TEST(first_stacks)
{
	struct ivl_config config = test_config(4);
	ivl_runtime *runtime;

	config.statistics = true;
	runtime = test_start(&config);
	assert_true(test_comes_true(test_counts(runtime).fibers == 4));
	ivl_stop(runtime);

	config.fibers_per_worker = 1;
	runtime = test_start(&config);
	assert_true(test_comes_true(test_counts(runtime).idles >= 4));
	assert_int_equal(test_counts(runtime).fibers, 1);
	ivl_stop(runtime);
}

/* As `ulimit -s 64`. */
TEST(small_threads)
{
	struct ivl_config config = test_config(2);
	pthread_attr_t before, small;
	_Atomic int runs = 0;

	if (TEST_SANITIZED)
		test_leave_out("the sanitizers' threads need more");
	assert_int_equal(pthread_getattr_default_np(&before), 0);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	assert_int_equal(pthread_setattr_default_np(&small), 0);
	test_run_on(&config, count, (void *)&runs);
	assert_int_equal(pthread_setattr_default_np(&before), 0);
	assert_int_equal(runs, 1);
}

OK_BODY(spawn_one, void *arg)
{
	spawn_and_sync(1, count_one, arg);
}

/* More fibers than possible, not the rest of a division. */
TEST(many_fibers)
{
	struct ivl_config config = test_config(2);
	_Atomic int runs = 0;

	config.policy = IVL_WORK_FIRST;
	config.fibers_per_worker = 1u << 31;
	test_run_on(&config, spawn_one, (void *)&runs);
	assert_int_equal(runs, 1);
}

static void refuse(struct ivl_config *config, const char *words)
{
	ivl_runtime *runtime = NULL;

	assert_int_equal(ivl_start(config, &runtime), EINVAL);
	assert_null(runtime);
	assert_non_null(strstr(ivl_last_error(), words));
	*config = test_config(1);
}

TEST(refused)
{
	struct ivl_config config = test_config(-1u);

	refuse(&config, "workers is 4294967295");
	config.queue = IVL_QUEUES;
	refuse(&config, "no such queue");
	config.stack_bytes = 100;
	refuse(&config, "stack_bytes is 100");
	config.threshold_low = config.threshold_high;
	refuse(&config, "INTERVALS_THRESHOLD_LOW");
	config.adapt_interval = 0;
	refuse(&config, "");
}

struct setting {
	const char *variable, *value, *error;
};

TEST(environment)
{
	static const struct setting good[] = {
		{ "INTERVALS_WORKERS", "3", NULL }, { "INTERVALS_QUEUE", "lazy", NULL },
		{ "INTERVALS_POLICY", "help-first", NULL }, { "INTERVALS_VICTIMS", "domains", NULL },
		{ "INTERVALS_PLACES", "llc", NULL }, { "INTERVALS_CROSS_PLACE", "off", NULL },
		{ "INTERVALS_STACK", "64", NULL }, { "INTERVALS_ADAPT_INTERVAL", "7", NULL },
		{ "INTERVALS_ADAPT_STACK", "8", NULL }, { "INTERVALS_ADAPT_FRESH", "9", NULL },
		{ "INTERVALS_THRESHOLD_LOW", "2", NULL }, { "INTERVALS_THRESHOLD_HIGH", "5", NULL },
		{ "INTERVALS_QUEUE_CAPACITY", "10", NULL }, { "INTERVALS_FIBERS", "11", NULL },
		{ "INTERVALS_SEED", "12", NULL }, { "INTERVALS_SEARCH", "0", NULL },
	};
	static const struct setting bad[] = {
		{ "INTERVALS_POLICY", "best", ": not one of adaptive, work-first, help-first" },
		{ "INTERVALS_ADAPT_FRESH", "0", "" }, { "INTERVALS_WORKERS", "0", "" },
		{ "INTERVALS_WORKERS", "4x", "" }, { "INTERVALS_SEARCH", "long", "" },
		{ "INTERVALS_WORKERS", " -18446744073709551614", "" },
	};
	struct ivl_config config;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		setenv(good[i].variable, good[i].value, 1);
	assert_int_equal(ivl_config_init(&config), 0);
	assert_int_equal(config.workers, 3);
	assert_int_equal(config.queue, IVL_QUEUE_LAZY);
	assert_int_equal(config.policy, IVL_HELP_FIRST);
	assert_int_equal(config.victims, IVL_VICTIMS_DOMAINS);
	assert_int_equal(config.places, IVL_PLACES_LLC);
	assert_false(config.cross_place);
	assert_int_equal(config.stack_bytes, 64 << 10);
	assert_int_equal(config.adapt_interval, 7);
	assert_int_equal(config.adapt_stack, 8);
	assert_int_equal(config.adapt_fresh, 9);
	assert_int_equal(config.threshold_low, 2);
	assert_int_equal(config.threshold_high, 5);
	assert_int_equal(config.queue_capacity, 10);
	assert_int_equal(config.fibers_per_worker, 11);
	assert_int_equal(config.seed, 12);
	assert_int_equal(config.search_us, 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		unsetenv(good[i].variable);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setenv(bad[i].variable, bad[i].value, 1);
		assert_int_equal(ivl_config_init(&config), EINVAL);
		assert_non_null(strstr(ivl_last_error(), bad[i].error));
		assert_non_null(strstr(ivl_last_error(), bad[i].variable));
		assert_int_equal(ivl_start(NULL, &(ivl_runtime *){ NULL }), EINVAL);
		unsetenv(bad[i].variable);
	}
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

TEST(sleeps)
{
	struct ivl_config config = test_config(8);
	_Atomic int runs = 0;
	double used = 1;

	config.statistics = true;
	TEST_RUNTIME(runtime, &config);
	test_run(runtime, count, (void *)&runs);
	/* A worker that polls uses a second of each; on a busy machine the first is too early. */
	for (int i = 0; i < 10 && used >= 0.02; i++) {
		const double before = cpu_seconds();

		usleep(1000000);
		used = cpu_seconds() - before;
	}
	assert_true(used < 0.02);
	/* Each can be woken. */
	for (int i = 0; i < 200; i++) {
		usleep(i % 10 * 100);
		test_run(runtime, count, (void *)&runs);
	}
	assert_int_equal(atomic_load(&runs), 201);
}

OK_BODY(look_around, const ivl_place **here)
{
	*here = ivl_here();
}

TEST(places)
{
	static const char *const cpus[] = { "0", "0" };
	struct ivl_config config = test_config(4);
	const ivl_place *here = NULL;

	config.places = IVL_PLACES_GIVEN;
	config.place_cpus = cpus;
	config.place_count = 1;
	TEST_RUNTIME(runtime, &config);
	assert_int_equal(ivl_place_count(runtime), 1);
	assert_ptr_equal(ivl_place_at(runtime, 5), ivl_place_at(runtime, 0));
	assert_int_equal(ivl_worker_count(runtime), 4);
	assert_null(ivl_here());
	test_run(runtime, look_around, &here);
	assert_ptr_equal(here, ivl_place_at(runtime, 0));
}

static void start_and_stop(const struct ivl_config *config)
{
	times_bound = 0;
	ivl_stop(test_start(config));
}

/* Workers are bound to their places' CPUs; with one place for the machine none is bound. */
TEST(bound_to_places)
{
	char first[16], second[16], both[32];
	const char *const cpus[] = { first, second }, *const together[] = { both };
	struct ivl_config config = test_config(3);

	if (!list_cpus(first, second, both))
		test_leave_out("there is one CPU only");
	config.places = IVL_PLACES_GIVEN;
	config.place_cpus = cpus;
	config.place_count = 2;
	start_and_stop(&config);
	assert_int_equal(times_bound, 3);
	for (int worker = 0; worker < 3; worker++) {
		assert_int_equal(CPU_COUNT(&bound[worker]), 1);
		assert_true(CPU_ISSET(atoi(worker < 2 ? first : second), &bound[worker]));
	}
	config.place_cpus = together;
	config.place_count = 1;
	start_and_stop(&config);
	assert_int_equal(times_bound, 3);
	for (int worker = 0; worker < 3; worker++)
		assert_int_equal(CPU_COUNT(&bound[worker]), 2);

	/* Binding was not requested, so its failure is no error. */
	pin_error = EPERM;
	ivl_stop(test_start(&config));
	pin_error = 0;

	config.places = IVL_PLACES_ONE;
	start_and_stop(&config);
	assert_int_equal(times_bound, 0);
}

static int read_signals(ivl_interval *self, void *arg)
{
	return pthread_sigmask(SIG_SETMASK, NULL, arg);
}

TEST(signals)
{
	struct ivl_config config = test_config(2);
	sigset_t before, after, inside;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	TEST_RUNTIME(runtime, &config);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
	test_run(runtime, read_signals, &inside);
	assert_int_equal(sigismember(&inside, SIGTERM), 1);
	assert_int_equal(sigismember(&inside, SIGALRM), 1);
	assert_int_equal(sigismember(&inside, SIGSEGV), 0);
	assert_int_equal(sigismember(&inside, SIGPROF), 0);
}

TEST(statistics)
{
	struct ivl_config config = test_config(1);
	struct ivl_statistics statistics;
	_Atomic int runs = 0;
	TEST_WORKERS(silent, 1);

	test_run(silent, count, (void *)&runs);
	assert_int_equal(test_counts(silent).takes, 0);

	config.statistics = true;
	TEST_RUNTIME(runtime, &config);
	test_run(runtime, count, (void *)&runs);
	statistics = test_counts(runtime);
	assert_true(statistics.takes > 0 && statistics.take_failures <= statistics.takes);
	assert_int_equal(statistics.mailbox, 1);
	assert_true(statistics.fibers > 0);
	ivl_statistics_reset(runtime);
	assert_int_equal(test_counts(runtime).mailbox, 0);
	assert_int_equal(test_counts(runtime).fibers, 0);
}

TEST_MAIN(NULL, NULL)
