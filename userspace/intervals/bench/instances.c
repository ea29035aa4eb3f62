// SPDX-License-Identifier: LGPL-2.1-or-later
#include "instances.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of all processes; NULL: there is one. */
static pthread_barrier_t *all;

static pthread_barrier_t *make_barrier(unsigned int count)
{
	pthread_barrier_t *barrier = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	if (barrier == MAP_FAILED)
		return NULL;
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &shared, count);
	pthread_barrierattr_destroy(&shared);
	return barrier;
}

void instances_meet(void)
{
	if (all)
		pthread_barrier_wait(all);
}

/* They may wait at the barrier for one that will not come. */
static void end_all(const pid_t *processes, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (processes[i])
			kill(processes[i], SIGKILL);
}

static void forget(pid_t *processes, unsigned int count, pid_t ended)
{
	for (unsigned int i = 0; i < count; i++)
		if (processes[i] == ended)
			processes[i] = 0;
}

static int wait_for_all(pid_t *processes, unsigned int count)
{
	int failure = 0, status;
	pid_t ended;

	while ((ended = wait(&status)) > 0) {
		/* Its number may be another's from now on. */
		forget(processes, count, ended);
		if (failure || (WIFEXITED(status) && !WEXITSTATUS(status)))
			continue;
		failure = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
		end_all(processes, count);
	}
	return failure;
}

static int begin(pid_t *process, int (*run)(const void *arg), const void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		/* When the first process is killed, none stays at the barrier. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exit(run(arg));
	}
	if (pid < 0)
		return EXIT_FAILURE;
	*process = pid;
	return 0;
}

static int run_in(pid_t *processes, unsigned int count, int (*run)(const void *arg),
		  const void *arg)
{
	for (unsigned int i = 0; i < count; i++) {
		if (begin(&processes[i], run, arg)) {
			perror("instances");
			end_all(processes, i);
			wait_for_all(processes, i);
			return EXIT_FAILURE;
		}
	}
	return wait_for_all(processes, count);
}

int instances_run(unsigned int count, int (*run)(const void *arg), const void *arg)
{
	int status = EXIT_FAILURE;
	pid_t *processes;

	if (count == 1)
		return run(arg);
	processes = calloc(count, sizeof(*processes));
	all = make_barrier(count);
	if (processes && all)
		status = run_in(processes, count, run, arg);
	else
		perror("instances");
	free(processes);
	return status;
}
