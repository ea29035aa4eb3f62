// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose hand-offs and wake-ups are known: test_fast_latency.py has it measured.
 *
 *	subject handoffs N MODE	N times a thread releases what another is waiting for. MODE:
 *				mutex, recursive, cond (released by a wait on a condition
 *				variable), shared (a mutex for several processes),
 *				timed (the other waits with a time limit)
 *	subject polls N		the other thread polls instead
 *	subject alone N		one thread locks and releases N times
 *	subject region N OTHER	N in the region of interest, OTHER before and after it
 *	subject forks N		N in this process, N in a child, with one mutex before fork()
 *	subject sleeps N	a thread sleeps N times, all in the region of interest
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "roi.h"

pthread_mutex_t subject_mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_int rounds_asked, rounds_begun, rounds_done;
static atomic_int waiter;
static bool with_cond, timed, polling;

static void take(void)
{
	struct timespec never = { .tv_sec = time(NULL) + 1000 };

	if (polling) {
		while (pthread_mutex_trylock(&subject_mutex))
			usleep(100);
	} else if (timed) {
		pthread_mutex_timedlock(&subject_mutex, &never);
	} else {
		pthread_mutex_lock(&subject_mutex);
	}
}

static void *wait_for_it(void *unused)
{
	atomic_store(&waiter, gettid());
	for (int round = 1; ; round++) {
		while (atomic_load(&rounds_asked) < round)
			usleep(100);
		atomic_store(&rounds_begun, round);
		take();
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&subject_mutex);
		atomic_store(&rounds_done, round);
	}
	return unused;
}

/* True once the other thread does not run any more, in what it waits for. */
static bool sleeps(void)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_load(&waiter));
	file = fopen(path, "re");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		abort();
	fclose(file);
	return state == 'S';
}

static void handoff(void)
{
	int round = atomic_load(&rounds_asked) + 1;

	pthread_mutex_lock(&subject_mutex);
	atomic_store(&rounds_asked, round);
	while (atomic_load(&rounds_begun) < round || !sleeps())
		usleep(100);
	if (with_cond)
		pthread_cond_wait(&cond, &subject_mutex);
	pthread_mutex_unlock(&subject_mutex);
	while (atomic_load(&rounds_done) < round)
		usleep(100);
}

static void handoffs(int n)
{
	for (int i = 0; i < n; i++)
		handoff();
}

static void prepare(const char *mode)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	if (!strcmp(mode, "recursive"))
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	if (!strcmp(mode, "shared"))
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	with_cond = !strcmp(mode, "cond");
	timed = !strcmp(mode, "timed");
	polling = !strcmp(mode, "polls");
	pthread_mutex_init(&subject_mutex, &attr);
}

static void start_waiter(void)
{
	pthread_t thread;

	rounds_asked = 0;
	rounds_begun = 0;
	rounds_done = 0;
	if (pthread_create(&thread, NULL, wait_for_it, NULL))
		abort();
}

static void forks(int n)
{
	pid_t child = fork();

	start_waiter();
	handoffs(n);
	if (!child)
		exit(0);
	waitpid(child, NULL, 0);
}

static void *sleep_often(void *n)
{
	for (int i = 0; i < *(int *)n; i++)
		usleep(1000);
	return NULL;
}

static void sleep_in_a_thread(int n)
{
	pthread_t thread;

	roi_begin();
	if (pthread_create(&thread, NULL, sleep_often, &n))
		abort();
	pthread_join(thread, NULL);
	roi_end();
}

static void alone(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&subject_mutex);
		pthread_mutex_unlock(&subject_mutex);
	}
}

static void region(int n, int other)
{
	start_waiter();
	handoffs(other);
	roi_warmup();
	roi_begin();
	handoffs(n);
	roi_end();
	handoffs(other);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	prepare(argc > 3 ? argv[3] : what);
	if (!strcmp(what, "handoffs") || !strcmp(what, "polls")) {
		start_waiter();
		handoffs(n);
	} else if (!strcmp(what, "alone")) {
		alone(n);
	} else if (!strcmp(what, "region") && argc > 3) {
		region(n, atoi(argv[3]));
	} else if (!strcmp(what, "forks")) {
		forks(n);
	} else if (!strcmp(what, "sleeps")) {
		sleep_in_a_thread(n);
	} else {
		fputs("subject: what?\n", stderr);
		return 2;
	}
	printf("%p\n", (void *)&subject_mutex);
	return 0;
}
