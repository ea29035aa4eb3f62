/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of INTERVALS_TRACE: one in a process, of all its runtimes. Whoever writes has a
 * lane, a buffer that goes into the file when it is full. So memory is bounded, and a program
 * that crashes has lost the last buffers only: the file is a sequence of packets, each whole
 * but for the last, if the process was killed in the middle of a write.
 *
 * Where the file cannot grow, or must not (INTERVALS_TRACE_MB), all that comes later is
 * dropped, and counted: an end without its beginning would make nonsense of what is there.
 */
#ifndef IVL_TRACE_FILE_H
#define IVL_TRACE_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tunables.h"

struct ivl_lane {
	/* Nearly always its thread's; the end of the process takes what is left. */
	pthread_mutex_t lock;
	struct ivl_lane *next;
	uint32_t sequence;		/* its number, not 0 */
	unsigned int packets;		/* in the buffer */
	size_t used;
	unsigned char bytes[IVL_LANE_BYTES];
};

/* 0, and is anything to be traced? Or an errno value, and ivl_last_error() says why. */
int ivl_trace_open(bool *wanted);
/* There is a file. */
bool ivl_tracing(void);
/* NULL: ENOMEM. */
struct ivl_lane *ivl_lane_create(void);
/* What it has goes into the file. NULL: nothing. */
void ivl_lane_destroy(struct ivl_lane *lane);
/* A packet, of at most IVL_PACKET_BYTES. NULL: who has no lane, and shares one. */
void ivl_lane_append(struct ivl_lane *lane, const unsigned char *packet, size_t bytes);
uint32_t ivl_lane_sequence(const struct ivl_lane *lane);

/* In the child of a fork(): the file is the parent's. */
void ivl_trace_forget(void);

#endif
