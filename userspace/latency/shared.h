/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that fast-latency shares with the library that it preloads into the
 * program and all its children. It begins as zeroes.
 */
#ifndef FAST_LATENCY_SHARED_H
#define FAST_LATENCY_SHARED_H

#include <fcntl.h>
#include <stdint.h>

#include "histogram.h"

/* The environment's variable with the memory's path, /proc/PID/fd/N; N is inherited, too. */
#define SHARED_VARIABLE "FAST_LATENCY"

/* Its size, by which the library distinguishes it from other files. */
#define SHARED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

/* A lock's key is its address and, above, the number of its process. */
#define SHARED_ADDRESS_BITS 48
#define SHARED_PROCESSES 0xffffu

#define SHARED_LOCKS 16384u
#define SHARED_MAPS (512 * 1024)

/* Only the lock's holder writes to the members behind the key. */
struct shared_lock {
	uint64_t key;		/* 0: this entry is free */
	uint64_t released_ns;	/* CLOCK_MONOTONIC; 0: held, or unknown */
	uint64_t handoffs;
} __attribute__((aligned(64)));

struct shared {
	uint32_t measuring;	/* 0 outside of regions of interest */
	uint32_t processes;	/* which have loaded the library; numbered from 1 */
	uint32_t no_room;	/* a lock was left out: there are too many */
	uint32_t maps_lock;	/* of maps and all members maps_* */
	uint32_t of_several;	/* a lock was left out: several processes may use it */
	uint32_t maps_process;	/* of the ended processes, the one with the most hand-offs */
	uint64_t maps_handoffs;
	struct histogram handoff;
	struct shared_lock locks[SHARED_LOCKS];
	char maps[SHARED_MAPS];	/* its /proc/PID/maps at its end */
};

static inline uint64_t shared_key(uint32_t process, const void *address)
{
	return (uint64_t)process << SHARED_ADDRESS_BITS | (uintptr_t)address;
}

#endif
