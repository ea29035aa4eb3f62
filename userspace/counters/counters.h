/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a process, of all its threads, and of all that these start:
 * perf_event with inheritance, which the kernel sums.
 *
 *	counters_open(&c, ...)		counts from the process's next execve() on,
 *					or is off until
 *	counters_enable(&c, ...)
 *	counters_disable(&c, ...)
 *	counters_read(&c, ...)
 *	counters_close(&c)
 *
 * What fails returns -1 and leaves in @error what happened and what to do next.
 * An event that this CPU cannot count is no failure: its result says why there is no value.
 */
#ifndef FAST_COUNTERS_H
#define FAST_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "events.h"

/* The kernel, which the tests replace. All but @paranoid and @hybrid set errno. */
struct counters_os {
	int (*open)(struct perf_event_attr *attr, pid_t pid, int group);
	ssize_t (*read)(int fd, void *buffer, size_t size);
	int (*ioctl)(int fd, unsigned long request);
	int (*close)(int fd);
	int (*paranoid)(void);	/* kernel.perf_event_paranoid */
	bool (*hybrid)(void);	/* the CPUs have cores of two kinds, with a PMU each */
};

extern const struct counters_os counters_linux;

struct counters_error {
	char text[640];
};

struct counters {
	const struct counters_os *os;
	const struct events *events;
	unsigned int wanted;
	int fd[COUNTERS];			/* -1: not open */
	char why_not[COUNTERS][256];		/* not open, though wanted */
};

enum counters_start { COUNT_FROM_EXEC, COUNT_WHEN_ENABLED };

/*
 * @events must outlive @counters. It is a failure, too, when none of @wanted can
 * be counted. Nothing is left open then.
 */
int counters_open(struct counters *counters, const struct counters_os *os,
		  const struct events *events, unsigned int wanted, pid_t pid,
		  enum counters_start start, struct counters_error *error);
int counters_enable(const struct counters *counters, struct counters_error *error);
int counters_disable(const struct counters *counters, struct counters_error *error);
void counters_close(struct counters *counters);

/*
 * Times are summed over the threads. An event that shared the CPU's counters
 * with others was counted for running_ns of enabled_ns, and value is raw scaled up by that.
 */
struct counters_result {
	bool available;
	uint64_t value;
	uint64_t raw;
	uint64_t enabled_ns;
	uint64_t running_ns;
	char why_not[256];
};

int counters_read(const struct counters *counters, struct counters_result results[COUNTERS],
		  struct counters_error *error);

/* The part of its time that an available result was counted: 1 unless it was scaled. */
double counters_share(const struct counters_result *result);

#endif
