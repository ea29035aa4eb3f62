/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF object and its loader share. */
#ifndef SCX_FAST_H
#define SCX_FAST_H

#ifdef __bpf__
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef _Bool bool;
#define false 0
#define true 1
#define NULL ((void *)0)
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
#endif

#define MAX_CPUS 1024

enum mode {
	MODE_OFF,	/* no lock is heeded */
	MODE_STRICT,	/* each waiter runs where it was released */
	MODE_ADAPTIVE,	/* lock groups meet on one CPU while that is faster */
};

/* Each is counted by the BPF object, and told by the loader under its name. */
#define FOR_EACH_COUNTER(f)							\
	f(handoffs)		/* wake-ups by FUTEX_WAKE within a process */	\
	f(handoffs_remote)	/* of them: the waiter last ran elsewhere */	\
	f(placed)		/* waiters placed for their lock */		\
	f(forbidden)		/* by their affinity */				\
	f(gathered)		/* lock groups that got a home */		\
	f(left)			/* and left it */				\
	f(idle)			/* wake-ups that found an idle CPU */		\
	f(queued)		/* the rest */					\
	f(migrations)		/* threads that run on another CPU than before */ \
	f(pulled)		/* by a CPU that has become idle */		\
	f(balanced)		/* by one that stayed idle, or has fewer threads */

enum counter {
#define f(name) COUNTER_##name,
	FOR_EACH_COUNTER(f)
#undef f
	N_COUNTERS
};

/* The loader fills it before the object is loaded. */
struct settings {
	u32 mode;
	s32 nr_cpus;		/* CPU numbers are below it */
	u64 slice_ns;
	/* CPUs by last level cache, and where in this list a CPU's cache begins and ends. */
	u32 cpus[MAX_CPUS], llc_first[MAX_CPUS], llc_end[MAX_CPUS];
};

/* The loader maps it. */
struct shared {
	u64 counters[N_COUNTERS];
	s64 exit_kind, exit_code;
	char exit_reason[128], exit_message[256];
};

#endif
