/* SPDX-License-Identifier: GPL-2.0 */
/* A perf_event layer whose values and failures a test chooses. */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <string.h>

#include "counters.h"
#include "unit.h"

#define FAKE_PID 4711
/* Place 0 has the threads' events, place N + 1 the events of CPU N. */
#define FAKE_PLACES 4

struct fake_event {
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
	int group;
	bool open;
	bool on;	/* a member counts if its leader is on, too */
};

/* A group of hardware events that is larger than @slots is refused, as by a real PMU. One that is
 * larger than what is left of @taken opens, and never counts. */
struct fake_kernel {
	struct fake_event event[FAKE_PLACES][COUNTERS];
	unsigned int slots;
	unsigned int taken;
	int open_errno[COUNTERS];
	int ioctl_errno[COUNTERS];
	int read_errno[COUNTERS];
	ssize_t read_size[COUNTERS];
	uint64_t data[FAKE_PLACES][COUNTERS][3];	/* value, time enabled, time running */
	int probe_errno;		/* what an attempt to open the cycles of oneself gives */
	int probes_open;
	int switches;			/* on or off, of single events */
	int paranoid;
	bool hybrid;
};

extern struct fake_kernel fake;
extern const struct counters_os fake_os;
extern struct events fake_events;

/* As a machine on which all works. */
void fake_reset(void);
/* It is open and on, by itself and by its group. */
bool fake_counts(int place, int counter);
/* The set of those that are open anywhere. */
unsigned int fake_open_events(void);

#endif
