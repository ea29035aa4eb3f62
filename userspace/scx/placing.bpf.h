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
/* A CPU that stays idle looks so often, times the number of CPUs (fair.c's balance_interval). */
#define IDLE_LOOK_NS 1000000ULL
/* After that long a busy CPU compares its queue, and what was placed counts as forgotten. */
#define BALANCE_NS 64000000ULL
#define FORGOTTEN_NS 20000000ULL
/* Idle looks that leave hot threads where they are. */
#define NICE_LOOKS 2

static bool share_cache(s32 a, s32 b)
{
	return cache_first(a) == cache_first(b);
}

static u32 runnable(s32 cpu)
{
	const struct cpu *c = cpu_at(cpu);

	return (c->queued > 0 ? c->queued : 0) + !c->idle;
}

/* Is the CPU idle? Then it is not for the next thread that asks. */
static bool claim(struct task_struct *p, s32 cpu)
{
	struct cpu *c = cpu_at(cpu);

	if (!c->idle || !may_run(p, cpu) || __sync_val_compare_and_swap(&c->idle, 1, 0) != 1)
		return false;
	c->runs = true;
	return true;
}

/* An idle CPU of these, better one whose core is idle, or -1. */
static s32 find_idle(struct task_struct *p, u32 first, u32 end)
{
	s32 found = -1;
	u32 i;

	bpf_for(i, first, end) {
		const u32 cpu = settings.cpus[i % MAX_CPUS];

		if (!cpu_at(cpu)->idle || !may_run(p, cpu))
			continue;
		found = cpu;
		if (cpu_at(settings.sibling[cpu % MAX_CPUS])->idle)
			break;
	}
	return found >= 0 && claim(p, found) ? found : -1;
}

static s32 least_loaded(struct task_struct *p, s32 prev)
{
	u32 least = held_up(prev) ? -1U : runnable(prev);
	s32 cpu, best = prev;

	bpf_for(cpu, 0, settings.nr_cpus) {
		if (runnable(cpu) < least && may_run(p, cpu) && !held_up(cpu)) {
			least = runnable(cpu);
			best = cpu;
		}
	}
	return best;
}

/*
 * The CPU for a thread that wakes up or begins. `*idle`: it is idle, and claimed. After fair.c's
 * wake_affine() and select_idle_sibling(), with runnable threads in the place of loads.
 */
static s32 place(struct task_struct *p, s32 prev, u64 flags, bool *idle)
{
	const s32 here = bpf_get_smp_processor_id();
	s32 target = prev, cpu;

	*idle = true;
	if (flags & SCX_WAKE_FORK) {
		cpu = find_idle(p, 0, settings.nr_cpus);
		if (cpu >= 0)
			return cpu;
		*idle = false;
		return least_loaded(p, prev);
	}
	/* The waker is about to sleep, and leaves its CPU. */
	if (flags & SCX_WAKE_SYNC && runnable(here) == 1 && may_run(p, here))
		target = here;
	if ((target == prev || share_cache(target, prev)) && claim(p, prev))
		return prev;
	if (target == prev && here != prev && runnable(here) + 1 < runnable(prev) &&
	    may_run(p, here))
		target = here;
	cpu = cache_end(target) - cache_first(target) < 2 ? -1 :
	      find_idle(p, cache_first(target), cache_end(target));
	if (cpu < 0 && held_up(target))
		cpu = find_idle(p, 0, settings.nr_cpus);
	if (cpu >= 0)
		return cpu;
	*idle = false;
	return held_up(target) ? least_loaded(p, prev) : target;
}

static u64 by_weight(struct task_struct *p, u64 ns)
{
	return ns * 100 / p->scx.weight;
}

static void leave_queue(struct thread *t)
{
	if (!t->queued)
		return;
	t->queued = 0;
	t->ahead -= cpu_at(t->queue)->vtime;
	__sync_fetch_and_add(&cpu_at(t->queue)->queued, -1);
}

/*
 * Into the queue of the CPU, by virtual deadline. It is as far ahead of that CPU's virtual time as
 * it was of the last one's; after a sleep at most two slices, or behind it (fair.c's entity_lag()).
 */
static void enqueue_at(struct task_struct *p, struct thread *t, s32 cpu, u64 flags)
{
	const s64 slice = by_weight(p, settings.slice_ns);
	struct cpu *c = cpu_at(cpu);

	leave_queue(t);
	if (t->slept && t->ahead > 2 * slice)
		t->ahead = 2 * slice;
	else if (t->slept && t->ahead < -2 * slice)
		t->ahead = -2 * slice;
	t->ahead += c->vtime;
	t->queued = clock();
	t->queue = cpu;
	__sync_fetch_and_add(&c->queued, 1);
	insert_by_vtime(p, cpu, settings.slice_ns, t->ahead + slice, flags);
}

/*
 * What runs, `p`, is not in the queue yet when its slice is over: is its virtual deadline before
 * that of the first in the queue?
 */
static bool goes_on(struct task_struct *p, const struct cpu *c, s32 cpu)
{
	struct thread *t = thread_of(p);
	struct bpf_iter_scx_dsq it;
	struct task_struct *first;
	u64 deadline;
	bool earlier;

	if (!t || !t->started)
		return false;
	deadline = c->vtime + t->ahead + by_weight(p, since(t->started, clock()) + settings.slice_ns);
	bpf_iter_scx_dsq_new(&it, cpu, 0);
	first = bpf_iter_scx_dsq_next(&it);
	earlier = first && (s64)(deadline - first->scx.dsq_vtime) < 0;
	bpf_iter_scx_dsq_destroy(&it);
	return earlier;
}

static bool has_hot_cache(struct thread *t, u64 now)
{
	return since(t->stopped, now) < HOT_NS;
}

/* The first thread in the queue that may move here. */
static bool take_from(s32 queue, s32 cpu, bool hot_too, u64 now)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	const bool held = held_up(queue);
	bool taken = false;

	bpf_iter_scx_dsq_new(&it, queue, 0);
	while (!taken && (p = bpf_iter_scx_dsq_next(&it))) {
		struct thread *t = thread_of(p);

		if (!t || !may_run(p, cpu))
			continue;
		if (!held && since(t->queued, now) < FORGOTTEN_NS &&
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
		s32 queued = other == cpu ? 0 : cpu_at(other)->queued;

		if (queued > 0 && held_up(other))
			queued++;
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
	/* fair.c's rd->overloaded. */
	if (queue < 0 && least == 1)
		shared.waiting = false;
	return queue >= 0 && take_from(queue, cpu, hot_too, now);
}

/* The CPU has no thread of its own. */
static void take_for_idle(s32 cpu, struct cpu *c)
{
	const bool newly = !c->idle_since;
	const u64 now = clock();

	if (newly ? c->idle_mean < LOOK_NS : now - c->balanced < settings.nr_cpus * IDLE_LOOK_NS)
		return;
	c->balanced = now;
	if (take_from_longest(cpu, 1, !newly && c->failed >= NICE_LOOKS, now)) {
		count(newly ? COUNTER_pulled : COUNTER_balanced);
		c->failed = 0;
	} else if (!newly) {
		c->failed++;
	}
}

/* Returns true if the CPU has taken a thread from a queue that is longer by two. */
static bool balance(s32 cpu, struct cpu *c)
{
	const u64 now = clock();

	if (now - c->balanced < BALANCE_NS)
		return false;
	c->balanced = now;
	if (!take_from_longest(cpu, c->queued + 2, false, now))
		return false;
	count(COUNTER_balanced);
	return true;
}

static void end_idle(struct cpu *c, u64 now)
{
	u64 idle = now - c->idle_since;

	age_load(c, 0, idle);
	if (idle > IDLE_MOST_NS)
		idle = IDLE_MOST_NS;
	c->idle_mean = (c->idle_mean * 7 + idle) / 8;
	c->idle_since = 0;
	c->failed = 0;
}

/* On a busy CPU whose queue is not empty: let an idle one look. */
static void call_idle(void)
{
	s32 cpu;

	shared.waiting = true;
	bpf_for(cpu, 0, settings.nr_cpus) {
		if (cpu_at(cpu)->idle) {
			scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
			break;
		}
	}
}

#endif
