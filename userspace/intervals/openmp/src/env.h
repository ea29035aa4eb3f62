/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment says (OpenMP 5.0, chapter 6), read when the library is loaded. */
#ifndef GOMP_ENV_H
#define GOMP_ENV_H

#include <sched.h>

#include "gomp.h"

#define GOMP_LEVELS 16			/* of OMP_NUM_THREADS and OMP_PROC_BIND that are kept */

enum offload { OFFLOAD_DEFAULT, OFFLOAD_MANDATORY, OFFLOAD_DISABLED };

struct environment {
	struct icv icv;			/* of the initial task */
	unsigned int threads[GOMP_LEVELS], levels;
	unsigned char binds[GOMP_LEVELS];
	unsigned int bind_levels;
	size_t stack_bytes;
	bool cancellation;
	bool display_affinity;
	unsigned int max_priority;
	unsigned int teams, teams_limit;
	unsigned int cpus;		/* that the process may use, when it begins */
	cpu_set_t allowed;		/* of them, those that have room in it */
	long numbers;			/* in OMP_PLACES a CPU's is less */
	size_t stack_asked;		/* OMP_STACKSIZE; 0: it is the system's */
	bool active;			/* OMP_WAIT_POLICY */
	unsigned char offload;		/* OMP_TARGET_OFFLOAD: an enum offload */
	/* Before a thread sleeps (park.h): with a CPU for each thread, and without. */
	unsigned int spins, spins_oversubscribed;
};

extern struct environment gomp_environment;

/*
 * A variable's value is not as it should be. That is told, places are found, and OMP_DISPLAY_ENV is
 * obeyed, when the program first asks for something: one that only inherits the environment, as a
 * shell does, is spared.
 */
#define GOMP_NO_VALUE "is no such value; it is ignored"
void gomp_complain(const char *name, const char *value, const char *what);
void gomp_environment_used(void);

/* On which the calling thread may run. */
unsigned int gomp_count_cpus(void);

#endif
