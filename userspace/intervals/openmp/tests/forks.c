// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions in children of fork(), in their children, and in the parents afterwards. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fib.h"

#define GENERATIONS 3
#define CHILDREN 2
#define THREADS 3
#define ITERATIONS 1000
/* A child that waits for ever is a fault that the parent reports. */
#define PATIENCE_S 60

static void compute(void)
{
	int members = 0, sum = 0, inner = 0, ordered = 0;
	long result = 0;

#pragma omp parallel num_threads(THREADS) reduction(+ : members, sum, inner)
	{
		members++;
#pragma omp for schedule(dynamic, 7)
		for (int i = 0; i < ITERATIONS; i++)
			sum += i;
#pragma omp barrier
#pragma omp single
		result = fib(12);
#pragma omp for ordered
		for (int i = 0; i < THREADS; i++)
#pragma omp ordered
			ordered = ordered * 10 + i;
#pragma omp parallel num_threads(2) reduction(+ : inner)
		inner++;
	}
	CHECK(members == THREADS && inner == 2 * THREADS);
	CHECK(sum == ITERATIONS * (ITERATIONS - 1) / 2);
	CHECK(result == 144 && ordered == 12);
	CHECK(omp_get_max_threads() == 5);
}

static void end_well(pid_t child)
{
	int status;

	CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
}

static void generation(int left)
{
	pid_t children[CHILDREN];

	compute();
	for (int i = 0; left && i < CHILDREN; i++) {
		children[i] = fork();
		if (!children[i]) {
			alarm(PATIENCE_S);
			generation(left - 1);
			/* The parent's other threads are no more, and what they have is no leak. */
			_exit(EXIT_SUCCESS);
		}
	}
	compute();
	for (int i = 0; left && i < CHILDREN; i++)
		end_well(children[i]);
	compute();
}

/* The child has this thread alone, and its regions. */
static void *fork_in_thread(void *unused)
{
	pid_t child;

	(void)unused;
	omp_set_num_threads(5);
	omp_set_max_active_levels(2);
	compute();
	child = fork();
	if (!child) {
		alarm(PATIENCE_S);
		compute();
		_exit(EXIT_SUCCESS);
	}
	end_well(child);
	compute();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	omp_set_num_threads(5);
	omp_set_max_active_levels(2);
	generation(GENERATIONS);
	CHECK(!pthread_create(&thread, NULL, fork_in_thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	compute();
	return EXIT_SUCCESS;
}
