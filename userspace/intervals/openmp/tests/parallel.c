// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions: their threads, nested, serialized; threadprivate; barriers. */
#include <dirent.h>
#include <sys/wait.h>

#include "../../tests/test.h"
#include "check.h"

#define MOST 64

static int private_value;
#pragma omp threadprivate(private_value)

TEST(numbers)
{
	int seen[MOST] = { 0 }, size = 0;

#pragma omp parallel
	{
		seen[omp_get_thread_num()]++;
#pragma omp single
		size = omp_get_num_threads();
	}
	CHECK(size == omp_get_max_threads());
	for (int i = 0; i < MOST; i++)
		CHECK(seen[i] == (i < size));
	CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && !omp_in_parallel());
#pragma omp parallel num_threads(3)
	CHECK(omp_get_num_threads() == 3 && omp_in_parallel());
#pragma omp parallel if (omp_get_max_threads() == 0)
	CHECK(omp_get_num_threads() == 1 && omp_get_level() == 1);
}

/* The caller is thread 0, and each number has the same thread in every region. */
TEST(threads)
{
	pthread_t first[MOST], caller = pthread_self();
	int kept = 0, size = omp_get_max_threads();

#pragma omp parallel
	{
		first[omp_get_thread_num()] = pthread_self();
		private_value = 1000 + omp_get_thread_num();
	}
	CHECK(pthread_equal(first[0], caller));
	for (int i = 0; i < 100; i++) {
#pragma omp parallel reduction(+ : kept)
		kept += pthread_equal(first[omp_get_thread_num()], pthread_self()) &&
			private_value == 1000 + omp_get_thread_num();
	}
	CHECK(kept == 100 * size);
}

TEST(nested)
{
	int inner[3][2] = { { 0 } }, levels = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : levels)
	{
		const int outer = omp_get_thread_num();

#pragma omp parallel num_threads(2) reduction(+ : levels)
		{
			CHECK(omp_get_ancestor_thread_num(1) == outer);
			CHECK(omp_get_team_size(1) == 3 && omp_get_team_size(2) == 2);
			inner[outer][omp_get_thread_num()]++;
			levels += omp_get_level();
		}
	}
	CHECK(levels == 3 * 2 * 2);
	for (int i = 0; i < 6; i++)
		CHECK(inner[i / 2][i % 2] == 1);
	omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
		CHECK(omp_get_num_threads() == 1 && omp_get_level() == 2 &&
		      omp_get_active_level() == 1);
	}
}

TEST(barriers)
{
	enum { ROUNDS = 50 };
	static int at[MOST];

#pragma omp parallel
	{
		const int self = omp_get_thread_num(), size = omp_get_num_threads();

		for (int round = 1; round <= ROUNDS; round++) {
			at[self] = round;
#pragma omp barrier
			CHECK(at[(self + 1) % size] == round);
#pragma omp barrier
		}
	}
}

static void *begin_own(void *arg)
{
	int *sum = arg;

#pragma omp parallel num_threads(2) reduction(+ : sum[0])
	sum[0] += omp_get_thread_num() + 1;
	return NULL;
}

/* Threads of the program have regions of their own, at the same time. */
TEST(two_callers)
{
	pthread_t other[2];
	int sums[2] = { 0 };

	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&other[i], NULL, begin_own, &sums[i]));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(other[i], NULL));
	CHECK(sums[0] == 3 && sums[1] == 3);
}

static void *begin_with_task(void *arg)
{
#pragma omp parallel num_threads(2)
#pragma omp task
	private_value++;
	return NULL;
}

static long pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long all = 0;

	CHECK(file && fscanf(file, "%ld", &all) == 1);
	fclose(file);
	return all;
}

/* Threads that come and go leave nothing behind. */
TEST(many_callers)
{
	long before = 0;

	for (int i = 0; i < 200; i++) {
		pthread_t caller;

		CHECK(!pthread_create(&caller, NULL, begin_with_task, NULL));
		CHECK(!pthread_join(caller, NULL));
		if (i == 60)
			before = pages();
	}
	CHECK(pages() - before < 1024);
}

/* The child has regions, too: with threads of its own, which ThreadSanitizer does not allow. */
TEST(forked)
{
#ifndef __SANITIZE_THREAD__
	int sum = 0, status;
	pid_t child;

#pragma omp parallel num_threads(3) reduction(+ : sum)
	sum++;
	child = fork();
	if (!child) {
		alarm(60);
#pragma omp parallel num_threads(3) reduction(+ : sum)
		sum++;
		_exit(sum == 6 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
#pragma omp parallel num_threads(3) reduction(+ : sum)
	sum++;
	CHECK(sum == 6);
#endif
}

/* The program may change on which CPUs it runs. */
TEST(processors)
{
	cpu_set_t before, one;

	CHECK(!sched_getaffinity(0, sizeof(before), &before));
	CHECK(omp_get_num_procs() == CPU_COUNT(&before));
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
	CHECK(omp_get_num_procs() == 1);
	CHECK(!sched_setaffinity(0, sizeof(before), &before));
}

static int count_threads(void)
{
	DIR *threads = opendir("/proc/self/task");
	int count = 0;

	CHECK(threads);
	while (readdir(threads))
		count++;
	closedir(threads);
	return count - 2;
}

static void *nest(void *arg)
{
	const int before = *(int *)arg;

	omp_set_max_active_levels(3);
	for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(2)
		CHECK(omp_get_active_level() == 2);
	}
	/* This, one more in the region, and one for each of these two. */
	CHECK(count_threads() <= before + 4);
	return NULL;
}

/* Threads of nested regions are used again, and end with the thread that began the outermost. */
TEST(nested_threads)
{
	int before = count_threads();
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, nest, &before));
	CHECK(!pthread_join(thread, NULL));
	/* A joined thread may still be counted for a moment. */
	while (count_threads() > before)
		usleep(1000);
}

TEST_MAIN(NULL, NULL)
