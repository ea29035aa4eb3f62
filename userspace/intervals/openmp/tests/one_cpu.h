/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library compares threads with the CPUs at load time: a program confines itself and begins again. */
#ifndef GOMP_ONE_CPU_H
#define GOMP_ONE_CPU_H

#include <sched.h>
#include <unistd.h>

#include "check.h"

static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

/* With the argument "on one CPU". */
static void begin_again(char *program)
{
	char *const argv[] = { program, "on one CPU", NULL };

	execv("/proc/self/exe", argv);
	CHECK(!"no such program");
}

#endif
