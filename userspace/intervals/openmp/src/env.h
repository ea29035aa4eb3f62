/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The environment (OpenMP 5.0, chapter 6), read when the library is loaded. */
#ifndef GOMP_ENV_H
#define GOMP_ENV_H

#include <sched.h>

#include "gomp.h"

#define GOMP_LEVELS 16			/* entries kept of OMP_NUM_THREADS and OMP_PROC_BIND */

enum offload { OFFLOAD_DEFAULT, OFFLOAD_MANDATORY, OFFLOAD_DISABLED };

struct environment {
	struct icv icv;			/* of the initial task */
	unsigned int threads[GOMP_LEVELS], levels;
	unsigned int binds[GOMP_LEVELS];
	unsigned int bind_levels;
	size_t stack_bytes;
	bool cancellation;
	bool display_affinity;
	unsigned int max_priority;
	unsigned int teams, teams_limit;
	unsigned int cpus;		/* available at the start */
	cpu_set_t allowed;		/* those that fit */
	long numbers;			/* exceeds all CPU numbers in OMP_PLACES */
	size_t stack_asked;		/* OMP_STACKSIZE; 0: system default */
	bool active;			/* OMP_WAIT_POLICY */
	unsigned char offload;		/* OMP_TARGET_OFFLOAD: an enum offload */
	/* Polls before a thread sleeps (park.h): with a CPU for each thread, and without. */
	unsigned int spins, spins_oversubscribed;
};

extern struct environment gomp_environment;

/*
 * Record a bad value. Complaints are printed, places found, and OMP_DISPLAY_ENV obeyed on first use
 * of the library, not in programs that only inherit the environment, such as shells.
 */
#define GOMP_NO_VALUE "is not a valid value; ignored"
void gomp_complain(const char *name, const char *value, const char *what);
void gomp_environment_used(void);

/* For parsers of its values. */
void gomp_skip_blanks(const char **text);

/* CPUs on which the calling thread may run. */
unsigned int gomp_count_cpus(void);

#endif
