/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a program: hardware events by CPU, software events by thread.
 *
 *	counters_open(&c, ...)		all are off until
 *	counters_enable(&c, ...)
 *	counters_disable(&c, ...)
 *	counters_read(&c, ...)
 *	counters_close(&c)
 *
 * A hardware event that belongs to threads makes each context switch reprogram the PMU. A
 * hypervisor traps that, at 100 us and more a switch, and a program that waits for locks runs 50
 * times slower. An event that belongs to a CPU is programmed once. It counts whatever runs
 * there, so the CPUs have to be the program's own. Software events touch no PMU, and by CPU they
 * would count the idle task's switches, too: they belong to threads (perf_event with inheritance,
 * which the kernel sums).
 *
 * A function that fails returns -1; @error says what happened and what to do next. An event that
 * this CPU cannot count is no failure: its result says why there is no value. A struct counters is
 * for one thread at a time.
 */
#ifndef FAST_COUNTERS_H
#define FAST_COUNTERS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "events.h"

/* The kernel, which the tests replace. All but @paranoid and @hybrid set errno. */
struct counters_os {
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group);
	ssize_t (*read)(int fd, void *buffer, size_t size);
	int (*ioctl)(int fd, unsigned long request);
	int (*close)(int fd);
	int (*paranoid)(void);	/* kernel.perf_event_paranoid */
	bool (*hybrid)(void);	/* the CPUs have cores of two kinds, with a PMU each */
};

extern const struct counters_os counters_linux;

struct counters_error {
	char text[640];
	enum {
		COUNTERS_BROKEN,
		COUNTERS_TOO_MANY,	/* fewer events could be counted */
		COUNTERS_NONE,		/* this CPU has none of the events */
	} kind;
};

/* What is counted: a process with all its threads and all their children. */
struct counters_target {
	pid_t pid;
	const cpu_set_t *cpus;	/* for hardware events; NULL: they count threads, too */
};

/* Where an event counts: the first place is the threads, with cpu -1, each further one a CPU. */
struct counters_place {
	int cpu;
	int fd[COUNTERS];	/* -1: not open */
};

struct counters {
	const struct counters_os *os;
	const struct events *events;
	unsigned int wanted;
	struct counters_target target;
	struct counters_place *places;
	size_t count;
	char why_not[COUNTERS][256];		/* not open, though wanted */
};

/*
 * @events must outlive @counters. All hardware events are one group, which counts all the time
 * or not at all. Fails if the CPU has too few counters (COUNTERS_TOO_MANY), or if none of @wanted
 * can be counted; then nothing is left open.
 */
int counters_open(struct counters *counters, const struct counters_os *os,
		  const struct events *events, unsigned int wanted,
		  const struct counters_target *target, struct counters_error *error);
int counters_enable(const struct counters *counters, struct counters_error *error);
int counters_disable(const struct counters *counters, struct counters_error *error);
void counters_close(struct counters *counters);

/* The sum over all threads, or all CPUs. */
struct counters_result {
	bool available;
	uint64_t value;
	char why_not[256];
};

/* Fails if an event was counted for a part of the time only: nothing is scaled up. */
int counters_read(const struct counters *counters, struct counters_result results[COUNTERS],
		  struct counters_error *error);

/*
 * Splits the hardware events of @wanted into groups that can each be counted at once, which it
 * finds out by counting. References and misses of a level stay together, for their ratio, unless
 * there is one counter only. Events that this CPU cannot count are in no group. Returns the number
 * of groups.
 */
int counters_split(const struct counters_os *os, const struct events *events, unsigned int wanted,
		   const struct counters_target *target, unsigned int groups[HARDWARE_COUNTERS],
		   struct counters_error *error);

#endif
