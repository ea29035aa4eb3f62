/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of one program and of all that it starts, from an instance of tracefs (instance.h).
 * A function that returns bool returns false on failure, with the reason in instance.why_not. Not
 * thread-safe.
 */
#ifndef FAST_TRACE_FOLLOW_H
#define FAST_TRACE_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>
#include <tracefs/tracefs.h>

#include "instance.h"

struct follow {
	struct instance instance;
	struct tep_handle *formats;	/* of the enabled events; NULL: not open */
};

typedef int follow_take(struct tep_event *event, struct tep_record *record, int cpu, void *context);

/*
 * Follow all threads of the process and their future children. `program` names the instance, as
 * for instance_open().
 */
bool follow_open(struct follow *f, const char *program, pid_t pid);
void follow_close(struct follow *f);

/* `filter` is as for instance_enable(). */
bool follow_enable(struct follow *f, const char *system, const char *event, const char *filter);

/* Take the recorded events out of the buffers, in their order. Nothing may be recorded meanwhile. */
bool follow_read(struct follow *f, follow_take *take, void *context);

#endif
