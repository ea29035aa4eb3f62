/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler knows of threads and CPUs, and the counters. */
#ifndef SCX_THREADS_BPF_H
#define SCX_THREADS_BPF_H

#include "kernel.bpf.h"
#include "fast_policy.h"

/* Of a thread of weight 100 that never sleeps. */
#define FULL_LOAD 1024
/* The time constant of a load: half of it is forgotten in 32 ms, as in PELT (kernel/sched/pelt.c). */
#define LOAD_NS 46000000ULL

const volatile struct settings settings SEC(".rodata.settings");
struct shared shared SEC(".data.shared");

struct thread {
	u64 since;		/* when `load` was last brought up to date */
	u64 started;		/* since when it runs; 0: it does not */
	u64 stopped;		/* when it last ran */
	u64 queued;		/* when it was put into a queue */
	u32 load;		/* part of the time that it was runnable, times its weight */
	s32 cpu;		/* where it last ran or was placed, whose load it is part of */
	s32 ran_on;
	bool asleep;
	bool keeps;		/* it was placed: no other CPU takes it before it has run */
	u32 wakee_flips;	/* how often it woke another thread than the last time; decays */
	s32 last_wakee;
	u64 flips_since;
	s32 released_at, releaser;	/* the wake-up that is under way: CPU + 1 and thread */
	u32 marked;		/* how many it wakes in its futex call */
	u32 sleeps;		/* how often it has slept */
	u64 ran;		/* CPU time until it was last stopped */
	u64 delay;		/* time in queues */
	s32 home;		/* CPU + 1 where its group met at `homed`, the last time it was woken */
	u64 homed;
	struct fast_thread fast;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct cpu {
	u64 vtime;		/* virtual time of what runs there */
	u64 idle_since;		/* 0: it is not idle */
	u64 idle_mean;		/* of its last idle times */
	u64 balanced;		/* when it last compared its queue */
	s64 load;		/* sum of its threads' loads */
	u64 home_until;		/* of a lock group */
	bool wakes;		/* a thread on it may be in a futex call in which it wakes */
	u32 failed;		/* looks while idle that found only threads with hot caches */
};
struct cpu cpus[MAX_CPUS];

static void count(enum counter which)
{
	__sync_fetch_and_add(&shared.counters[which], 1);
}

static struct thread *thread_of(struct task_struct *p)
{
	return bpf_task_storage_get(&threads, p, 0, 0);
}

static struct cpu *cpu_at(s32 cpu)
{
	return &cpus[(u32)cpu % MAX_CPUS];
}

/* Where the CPUs that share this one's last level cache begin and end in settings.cpus. */
static u32 cache_first(s32 cpu)
{
	return settings.llc_first[(u32)cpu % MAX_CPUS];
}

static u32 cache_end(s32 cpu)
{
	return settings.llc_end[(u32)cpu % MAX_CPUS];
}

static bool may_run(struct task_struct *p, s32 cpu)
{
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

static void set_load(struct thread *t, u32 load)
{
	__sync_fetch_and_add(&cpu_at(t->cpu)->load, (s64)load - t->load);
	t->load = load;
}

/* It has been asleep, or runnable, since the last call. */
static void age_load(struct task_struct *p, struct thread *t, u64 now)
{
	const u64 passed = now - t->since;
	const u64 most = (u64)p->scx.weight * FULL_LOAD / 100;

	t->since = now;
	if (t->asleep)
		set_load(t, t->load - t->load * passed / (passed + LOAD_NS));
	else if (t->load < most)
		set_load(t, t->load + (most - t->load) * passed / (passed + LOAD_NS));
}

static void move_load(struct thread *t, s32 cpu)
{
	if (t->cpu == cpu)
		return;
	__sync_fetch_and_add(&cpu_at(t->cpu)->load, -(s64)t->load);
	__sync_fetch_and_add(&cpu_at(cpu)->load, t->load);
	t->cpu = cpu;
}

#endif
