/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A barrier with a controller: workers are held until the controller, which has
 * seen them all arrive, has done what must happen while they stand still.
 *
 * A pthread barrier cannot do this: it lets everyone go when the last arrives,
 * and a second one after it adds a wake-up and a sleep of every thread to the
 * counted part. A mutex and a condition variable would hand that mutex from
 * thread to thread as the gate opens, which is the very event under study. So
 * this is two futexes; its wake-ups always wake all, and are thus no hand-off.
 */
#ifndef MICROBENCH_GATE_H
#define MICROBENCH_GATE_H

#include <stdatomic.h>

#include "bench.h"

struct gate {
	unsigned int workers;
	atomic_uint arrived;	/* the controller sleeps on it */
	atomic_uint opened;	/* times opened so far; the workers sleep on it */
};

/* Worker: arrive, and sleep until the gate opens. */
void gate_pass(struct gate *gate);

/* Controller: sleep until all workers have arrived. */
void gate_await(struct gate *gate);

/* Controller, after gate_await(): let all workers go. */
void gate_open(struct gate *gate);

#endif
