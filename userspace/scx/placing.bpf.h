/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where threads run that no lock is known of, after kernel/sched/fair.c: a queue for each CPU;
 * wake_affine() and select_idle_sibling() at a wake-up; a CPU without work takes a thread whose
 * cache is not hot. The order within a queue is that of virtual deadlines.
 */
#ifndef SCX_PLACING_BPF_H
#define SCX_PLACING_BPF_H

#include "threads.bpf.h"

/* As in fair.c: sysctl_sched_migration_cost, and the most that an idle time counts for. */
#define HOT_NS 500000ULL
#define IDLE_MOST_NS (2 * HOT_NS)
/* A shorter idle time does not pay for a look at the other queues. */
#define LOOK_NS 20000ULL
/* After that long a busy CPU compares its queue, and what was placed counts as forgotten. */
#define BALANCE_NS 64000000ULL
#define FORGOTTEN_NS 20000000ULL
/* Idle looks that leave hot threads where they are. */
#define NICE_LOOKS 2
/* imbalance_pct of a package, 117, halved: the previous CPU may have so much more load. */
#define BIAS_PERCENT 108

static bool share_cache(s32 a, s32 b)
{
	return cache_first(a) == cache_first(b);
}

/* fair.c's record_wakee() and wake_wide(): are these a waker of many, and one of its threads? */
static bool wakes_wide(struct thread *waker, struct thread *wakee, s32 pid, s32 cpu, u64 now)
{
	const u32 factor = cache_end(cpu) - cache_first(cpu);
	u32 most, least;

	if (now - waker->flips_since > 1000000000ULL) {
		waker->wakee_flips >>= 1;
		waker->flips_since = now;
	}
	if (waker->last_wakee != pid) {
		waker->last_wakee = pid;
		waker->wakee_flips++;
	}
	most = waker->wakee_flips > wakee->wakee_flips ? waker->wakee_flips : wakee->wakee_flips;
	least = waker->wakee_flips > wakee->wakee_flips ? wakee->wakee_flips : waker->wakee_flips;
	return least >= factor && most >= (u64)least * factor;
}

/* wake_affine(): the waker's CPU or the one where it ran? */
static s32 nearer_cpu(struct thread *t, s32 here, s32 prev, const struct cpumask *idle)
{
	const s64 load = t->load;

	if (share_cache(here, prev) && bpf_cpumask_test_cpu(here, idle))
		return bpf_cpumask_test_cpu(prev, idle) ? prev : here;
	if (bpf_cpumask_test_cpu(prev, idle))
		return prev;
	return (cpu_at(here)->load + load) * 100 < (cpu_at(prev)->load - load) * BIAS_PERCENT ?
	       here : prev;
}

/* A CPU in `idle` that shares the target's cache and is not in the way, or -1. */
static s32 idle_near(struct task_struct *p, s32 target, const struct cpumask *idle)
{
	const u32 first = cache_first(target), end = cache_end(target);
	s32 found = -1;
	u32 i;

	bpf_for(i, first, end) {
		const s32 cpu = settings.cpus[i % MAX_CPUS];

		if (bpf_cpumask_test_cpu(cpu, idle) && may_run(p, cpu)) {
			found = cpu;
			if (cpu > target)
				break;
		}
	}
	return found;
}

static s32 least_loaded(struct task_struct *p, s32 prev)
{
	s64 least = cpu_at(prev)->load;
	s32 cpu, best = prev;

	bpf_for(cpu, 0, settings.nr_cpus) {
		if (cpu_at(cpu)->load < least && may_run(p, cpu)) {
			least = cpu_at(cpu)->load;
			best = cpu;
		}
	}
	return best;
}

/* The CPU for a thread that wakes up or begins. `*found_idle`: it is idle, and claimed. */
static s32 place(struct task_struct *p, struct thread *t, s32 prev, u64 flags, bool *found_idle)
{
	const struct cpumask *idle, *cores;
	struct thread *waker = thread_of(bpf_get_current_task_btf());
	s32 here = bpf_get_smp_processor_id(), target = prev, cpu;
	u64 now = bpf_ktime_get_ns();

	if (flags & SCX_WAKE_FORK) {
		cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
		*found_idle = cpu >= 0;
		return cpu >= 0 ? cpu : least_loaded(p, prev);
	}
	idle = scx_bpf_get_idle_cpumask();
	cores = scx_bpf_get_idle_smtmask();
	if (here != prev && may_run(p, here) &&
	    !(waker && wakes_wide(waker, t, p->pid, here, now)))
		target = nearer_cpu(t, here, prev, idle);
	if (bpf_cpumask_test_cpu(target, idle)) {
		cpu = target;
	} else if (share_cache(target, prev) && bpf_cpumask_test_cpu(prev, idle)) {
		cpu = prev;
	} else {
		cpu = idle_near(p, target, cores);
		if (cpu < 0)
			cpu = idle_near(p, target, idle);
		if (cpu < 0)
			cpu = target;
	}
	scx_bpf_put_idle_cpumask(cores);
	scx_bpf_put_idle_cpumask(idle);
	*found_idle = may_run(p, cpu) && scx_bpf_test_and_clear_cpu_idle(cpu);
	return cpu;
}

static u64 by_weight(struct task_struct *p, u64 ns)
{
	return ns * 100 / p->scx.weight;
}

/* Into the queue of the CPU; a sleeper gains and loses at most a slice by its sleep. */
static void enqueue_at(struct task_struct *p, struct thread *t, s32 cpu, u64 flags)
{
	const u64 vtime = cpu_at(cpu)->vtime, slice = by_weight(p, settings.slice_ns);

	if ((s64)(p->scx.dsq_vtime - vtime) < -(s64)slice)
		p->scx.dsq_vtime = vtime - slice;
	else if ((s64)(p->scx.dsq_vtime - vtime) > (s64)slice)
		p->scx.dsq_vtime = vtime + slice;
	t->queued = bpf_ktime_get_ns();
	insert_by_vtime(p, cpu, settings.slice_ns, p->scx.dsq_vtime + slice, flags);
}

static bool has_hot_cache(struct thread *t, u64 now)
{
	return now - t->stopped < HOT_NS;
}

/* The first thread in the queue that may move here. */
static bool take_from(s32 queue, s32 cpu, bool hot_too, u64 now)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	bool taken = false;

	bpf_iter_scx_dsq_new(&it, queue, 0);
	while (!taken && (p = bpf_iter_scx_dsq_next(&it))) {
		struct thread *t = bpf_task_storage_get(&threads, p, 0, 0);

		if (!t || !may_run(p, cpu))
			continue;
		if (now - t->queued < FORGOTTEN_NS &&
		    (t->keeps || (!hot_too && has_hot_cache(t, now))))
			continue;
		taken = take_this(&it, p);
	}
	bpf_iter_scx_dsq_destroy(&it);
	return taken;
}

/* The longest queue of these CPUs, with at least `least` threads; or -1. */
static s32 longest_queue(s32 cpu, u32 first, u32 end, s32 least)
{
	s32 longest = -1, most = least - 1;
	u32 i;

	bpf_for(i, first, end) {
		const s32 other = settings.cpus[i % MAX_CPUS];
		const s32 queued = other == cpu ? 0 : scx_bpf_dsq_nr_queued(other);

		if (queued > most) {
			most = queued;
			longest = other;
		}
	}
	return longest;
}

static bool take_from_longest(s32 cpu, s32 least, bool hot_too, u64 now)
{
	s32 queue = longest_queue(cpu, cache_first(cpu), cache_end(cpu), least);

	if (queue >= 0 && take_from(queue, cpu, hot_too, now))
		return true;
	queue = longest_queue(cpu, 0, settings.nr_cpus, least);
	return queue >= 0 && take_from(queue, cpu, hot_too, now);
}

/* The CPU has no thread of its own. */
static bool take_for_idle(s32 cpu, u64 now)
{
	struct cpu *c = cpu_at(cpu);
	const bool newly = !c->idle_since;

	if (newly && c->idle_mean < LOOK_NS)
		return false;
	if (take_from_longest(cpu, 1, !newly && c->failed >= NICE_LOOKS, now)) {
		count(newly ? COUNTER_pulled : COUNTER_balanced);
		c->failed = 0;
		return true;
	}
	if (!newly)
		c->failed++;
	return false;
}

/* Returns true if the CPU has taken a thread from a queue that is longer by two. */
static bool balance(s32 cpu, u64 now)
{
	struct cpu *c = cpu_at(cpu);

	if (now - c->balanced < BALANCE_NS)
		return false;
	c->balanced = now;
	if (!take_from_longest(cpu, scx_bpf_dsq_nr_queued(cpu) + 2, false, now))
		return false;
	count(COUNTER_balanced);
	return true;
}

static void begin_idle(s32 cpu, u64 now)
{
	if (!cpu_at(cpu)->idle_since)
		cpu_at(cpu)->idle_since = now;
}

static void end_idle(s32 cpu, u64 now)
{
	struct cpu *c = cpu_at(cpu);
	u64 idle = now - c->idle_since;

	if (!c->idle_since)
		return;
	if (idle > IDLE_MOST_NS)
		idle = IDLE_MOST_NS;
	c->idle_mean = (c->idle_mean * 7 + idle) / 8;
	c->idle_since = 0;
	c->failed = 0;
}

/* On a busy CPU whose queue is not empty: let an idle one look. */
static void call_idle(void)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	s32 cpu;

	bpf_for(cpu, 0, settings.nr_cpus) {
		if (bpf_cpumask_test_cpu(cpu, idle)) {
			scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
			break;
		}
	}
	scx_bpf_put_idle_cpumask(idle);
}

#endif
