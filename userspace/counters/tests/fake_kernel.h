/* SPDX-License-Identifier: GPL-2.0 */
/* A perf_event layer whose counters say, and whose calls fail, as a test wants. */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

/* cmocka.h wants the four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "counters.h"

#define FAKE_PID 4711

struct fake_event {
	struct perf_event_attr attr;
	pid_t pid;
	int group;
	bool open;
	bool on;
};

/* By counter; an event's descriptor is FAKE_FD of its counter. */
struct fake_kernel {
	struct fake_event event[COUNTERS];
	int open_errno[COUNTERS];
	int ioctl_errno[COUNTERS];
	int read_errno[COUNTERS];
	ssize_t read_size[COUNTERS];
	uint64_t data[COUNTERS][3];	/* value, time enabled, time running */
	int probe_errno;		/* what an attempt to open the cycles of oneself gives */
	int probes_open;
	int paranoid;
	bool hybrid;
};

extern struct fake_kernel fake;
extern const struct counters_os fake_os;
extern struct events fake_events;

/* As a machine on which all works. */
void fake_reset(void);
unsigned int fake_open_events(void);

#endif
