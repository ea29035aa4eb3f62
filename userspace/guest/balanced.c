// SPDX-License-Identifier: GPL-2.0
/*
 * balanced PATH WORD...: run the program after the kernel's idle balancer has visited its domains
 * once, as it has in every machine that has been up for a second.
 *
 * The start of the CPUs makes new domains. Until the balancer has visited a domain,
 * select_idle_cpu() may scan 0 CPUs for a woken thread (SIS_UTIL, nr_idle_scan): threads would
 * share a CPU although idle CPUs share its cache. On a machine without shared caches it never
 * scans, and this is not needed.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_PREPARE 126
#define CANNOT_RUN 127	/* as the shell says it */
#define US_PER_MS 1000
/* Some of the CPU's ticks. */
#define SPINS 300000

static _Noreturn void fail(const char *what, int status)
{
	fprintf(stderr, "balanced: %s: %s\n", what, strerror(errno));
	exit(status);
}

static void spin(void)
{
	for (volatile int i = 0; i < SPINS; i++)
		;
}

/* A tick that finds two tasks on its CPU calls the idle balancer (nohz_balancer_kick()). */
static void crowd(void)
{
	const pid_t pid = fork();

	if (pid < 0)
		fail("fork", CANNOT_PREPARE);
	spin();
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) < 0)
		fail("waitpid", CANNOT_PREPARE);
}

int main(int argc, char *argv[])
{
	cpu_set_t allowed, first;

	if (argc < 2) {
		fputs("usage: balanced PATH WORD...\n", stderr);
		return CANNOT_PREPARE;
	}
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) ||
	    sched_setaffinity(0, sizeof(first), &first))
		fail("the first CPU", CANNOT_PREPARE);
	/* The balancer visits a domain of N CPUs every N ms. */
	usleep((useconds_t)(sysconf(_SC_NPROCESSORS_ONLN) + 1) * US_PER_MS);
	crowd();
	if (sched_setaffinity(0, sizeof(allowed), &allowed))
		fail("the CPUs", CANNOT_PREPARE);
	execv(argv[1], argv + 1);
	fail(argv[1], CANNOT_RUN);
}
