/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What threads wait for each other with (NUMA thesis, chapter 6): constructs of EPCC's syncbench,
 * each as often as the size says, and two threads at a spin lock.
 */
#ifndef BENCH_SYNC_H
#define BENCH_SYNC_H

#include <stdint.h>

#define SYNC(of) \
	of(sync_parallel, sync_parallel) of(sync_barrier, sync_barrier) of(sync_lock, sync_lock) \
	of(sync_reduction, sync_reduction) of(spin_near, spin_near) of(spin_apart, spin_apart)

#define SYNC_THREADS 64

struct bench_sync {
	unsigned int size, threads;
	uint64_t shared;			/* protected by the lock */
	struct {
		uint64_t count;			/* by the thread itself */
	} __attribute__((aligned(64))) own[SYNC_THREADS];
};
extern struct bench_sync bench_sync;

#endif
