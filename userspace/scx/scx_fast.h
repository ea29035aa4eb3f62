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
	u32 sibling[MAX_CPUS];	/* another CPU of the same core, or itself */
};

/* Of a CPU. What others write begins a cache line of its own. */
struct cpu {
	u64 vtime;		/* virtual time of what runs there */
	u64 idle_since;		/* 0: it is not idle */
	u64 idle_mean;		/* of its last idle times */
	u64 balanced;		/* when it last compared its queue */
	s64 load;		/* how many threads it has to run, averaged */
	u64 changed;		/* when a thread of ours last began or ended to run there */
	u32 failed;		/* looks while idle that found only threads with hot caches */
	s32 releaser, waiter;	/* what runs there, in a futex call, is to wake the other */
	u32 marked;		/* and so many in all */
	bool arrives;		/* a thread is in no queue, but next there */
	u64 counters[N_COUNTERS];
	s32 idle __attribute__((aligned(128)));	/* and no thread is on its way to it */
	bool runs;		/* a thread of ours, or is about to */
	s32 queued;		/* threads in its queue */
	u64 home_until;		/* of a lock group */
} __attribute__((aligned(128)));

/* The loader maps it. */
struct shared {
	struct cpu cpus[MAX_CPUS];
	bool waiting;		/* a thread may be in a queue */
	s64 exit_kind, exit_code;
	char exit_reason[128], exit_message[256];
};

struct task_struct;
struct scx_init_task_args;
struct scx_cpu_release_args;
struct scx_exit_info;

/* What the scheduler does; libbpf finds the kernel's members by name. The loader sets the flags. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	void (*update_idle)(s32 cpu, bool idle);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*disable)(struct task_struct *p);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	u64 flags;
	u32 timeout_ms;
	char name[128];
};

#endif
