/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler knows of threads and CPUs, and the counters. */
#ifndef SCX_THREADS_BPF_H
#define SCX_THREADS_BPF_H

#include "kernel.bpf.h"
#include "fast_policy.h"

/* What a CPU with one runnable thread has to do. */
#define FULL_LOAD 1024
/* The time constant of a load: half of it is forgotten in 32 ms, as in PELT (kernel/sched/pelt.c). */
#define LOAD_NS 46000000ULL
#define HELD_NS 1000000ULL

const volatile struct settings settings SEC(".rodata.settings");
struct shared shared SEC(".bss.shared");

struct thread {
	u64 started;		/* since when it runs; 0: it does not */
	u64 stopped;		/* when it last ran */
	u64 queued;		/* when it was put into a queue; 0: it is in none */
	s32 queue;		/* that queue's CPU */
	s64 ahead;		/* of its CPU's virtual time; in a queue: its own virtual time */
	s32 cpu;		/* where it last ran */
	bool keeps;		/* it was placed: no other CPU takes it before it has run */
	bool slept;		/* since it was stopped */
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

static struct thread *thread_of(struct task_struct *p)
{
	return bpf_task_storage_get(&threads, p, 0, 0);
}

static struct cpu *cpu_at(s32 cpu)
{
	return &shared.cpus[(u32)cpu % MAX_CPUS];
}

/* Of this CPU; what interrupts the addition may be lost. */
static void count(enum counter which)
{
	cpu_at(bpf_get_smp_processor_id())->counters[which]++;
}

/*
 * The run queue's clock is cheaper than the other, but one CPU's may be behind another's, which
 * fast_policy.h does not expect.
 */
static u64 clock(void)
{
	return settings.mode != MODE_ADAPTIVE && bpf_ksym_exists(scx_bpf_now) ?
	       scx_bpf_now() : bpf_ktime_get_ns();
}

static u64 since(u64 then, u64 now)
{
	return now > then ? now - then : 0;
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

/* Does another class have the CPU, for longer than it takes to switch? */
static bool held_up(s32 cpu)
{
	const struct cpu *c = cpu_at(cpu);

	return !c->idle && !c->runs && since(c->changed, clock()) > HELD_NS;
}

/* It had so many runnable threads for that long. */
static void age_load(struct cpu *c, u32 runnable, u64 passed)
{
	c->load = (c->load * LOAD_NS + (u64)runnable * FULL_LOAD * passed) / (passed + LOAD_NS);
}

#endif
