/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of INTERVALS_TRACE, one per process. Each writer has a lane, a buffer that is flushed
 * when full. So memory is bounded, and a crash loses only the last buffers: the file is a sequence
 * of whole packets, except that a kill may truncate the last.
 *
 * When the file cannot grow, or has reached INTERVALS_TRACE_MB, all later packets are dropped and
 * counted: an end without its begin would corrupt the picture.
 */
#ifndef IVL_TRACE_FILE_H
#define IVL_TRACE_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tunables.h"

struct ivl_lane {
	/* Mostly its thread's; at exit another thread flushes it. */
	pthread_mutex_t lock;
	struct ivl_lane *next;
	uint32_t sequence;		/* not 0 */
	unsigned int packets;		/* in the buffer */
	size_t used;
	unsigned char bytes[IVL_LANE_BYTES];
};

/* Returns 0, and whether a trace is wanted; or an errno value with ivl_last_error(). */
int ivl_trace_open(bool *wanted);
/* There is a file. */
bool ivl_tracing(void);
/* NULL: ENOMEM. */
struct ivl_lane *ivl_lane_create(void);
/* Flushes it. NULL: does nothing. */
void ivl_lane_destroy(struct ivl_lane *lane);
/* A packet of at most IVL_PACKET_BYTES. NULL: a shared lane. */
void ivl_lane_append(struct ivl_lane *lane, const unsigned char *packet, size_t bytes);
uint32_t ivl_lane_sequence(const struct ivl_lane *lane);

/* In the child of a fork(): the file is the parent's. */
void ivl_trace_forget(void);

#endif
