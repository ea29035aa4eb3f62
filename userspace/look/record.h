/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The futex calls of a program, recorded in stretches, of each of which waits.h counts what the
 * threads wait for. A function that returns bool returns false on failure, with the reason in
 * follow.instance.why_not. Not thread-safe.
 */
#ifndef FAST_LOOK_RECORD_H
#define FAST_LOOK_RECORD_H

#include "follow.h"
#include "probes.h"
#include "waits.h"

struct record {
	struct follow follow;
	struct waits *waits;
	struct probes *probes;
	struct format *formats;		/* of the enabled events */
	unsigned int format_count;
	struct event *events;		/* of this stretch */
	size_t count, room;
	uint64_t begun;
	/* So far: */
	uint64_t recorded;		/* events */
	uint64_t lost;			/* of these, after a buffer was full: not counted */
	unsigned int stretches;
};

/* Follow the process and all that it starts. */
bool record_open(struct record *r, pid_t pid, struct waits *waits, struct probes *probes);
void record_close(struct record *r);

/* A stretch. Its end reads and counts its events; where one has no room, the stretch ends there. */
bool record_begin(struct record *r);
bool record_end(struct record *r);

/* Now, by the clock of the events. */
uint64_t record_now_ns(void);

#endif
