/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock groups: the clocks, the locks and the choice of a home for fast_policy.h, which says what a
 * group is and judges it.
 */
#ifndef SCX_GROUPS_BPF_H
#define SCX_GROUPS_BPF_H

#include "threads.bpf.h"

/* Of a process; in the storage of its first thread, which is there until the last one ends. */
struct process {
	struct bpf_spin_lock lock;
	struct fast_group groups[FAST_GROUPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct process);
} processes SEC(".maps");

static struct process *process_of(struct task_struct *p, u64 flags)
{
	struct task_struct *first = p->group_leader;

	return first ? bpf_task_storage_get(&processes, first, NULL, flags) : NULL;
}

/* The group of a thread, or NULL. */
static __always_inline struct fast_group *group_of(struct process *process, struct thread *t)
{
	struct fast_group *g = &process->groups[t->fast.group % FAST_GROUPS];

	return t->fast.group && g->id == t->fast.group ? g : NULL;
}

static u64 run_time(struct thread *t, u64 now)
{
	return t->ran + (t->started ? now - t->started : 0);
}

/* The thread enters a futex call, in which it wakes or waits. */
static void enter_call(struct task_struct *p, struct thread *t, bool wakes)
{
	const u64 now = bpf_ktime_get_ns();
	struct process *process;
	struct fast_group *g;

	if (!t->fast.group)
		return;
	process = process_of(p, 0);
	if (!process)
		return;
	bpf_spin_lock(&process->lock);
	g = group_of(process, t);
	if (!g || fast_strays(&t->fast, g, now)) {
		t->fast.group = 0;
	} else if (g->home || !g->trial.handoffs) {
		t->fast.mark = 0;
	} else {
		fast_enter(&t->fast, g, run_time(t, now), wakes);
		fast_tell(&t->fast, g, now, t->delay);
	}
	bpf_spin_unlock(&process->lock);
}

static void leave_call(struct thread *t, bool many)
{
	if (t->fast.group)
		fast_leave(&t->fast, run_time(t, bpf_ktime_get_ns()), many);
}

/* The CPU of the same cache with the fewest homes, then with the least to do. */
static s32 choose_home(struct task_struct *p, s32 here, u64 now)
{
	const u32 first = cache_first(here), end = cache_end(here);
	u32 homes = now < cpu_at(here)->home_until;
	/* What runs here now comes along. */
	s64 load = cpu_at(here)->load - FULL_LOAD;
	s32 best = here;
	u32 i;

	bpf_for(i, first, end) {
		const s32 cpu = settings.cpus[i % MAX_CPUS];
		const u32 homes_there = now < cpu_at(cpu)->home_until;
		const s64 there = cpu_at(cpu)->load;

		if (cpu != here && may_run(p, cpu) &&
		    fast_cpu_before(homes_there, there > 0 ? (u32)there : 0,
				    homes, load > 0 ? (u32)load : 0)) {
			best = cpu;
			homes = homes_there;
			load = there;
		}
	}
	return best;
}

/*
 * The home of the group of the waiter and its waker, which is current and wakes `woken` threads in
 * this call; or -1.
 */
static s32 home_of(struct task_struct *p, struct thread *t, struct thread *waker, u32 woken,
		   u64 now)
{
	const s32 here = bpf_get_smp_processor_id();
	const bool handoff = fast_hands_over(&waker->fast, woken, now);
	const bool remote = t->cpu != here;
	struct process *process = process_of(p, handoff ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	bool gathers = false, left = false;
	struct fast_group *g;
	s32 home = 0;

	t->fast.preempts = false;
	if (!process)
		return -1;
	bpf_spin_lock(&process->lock);
	g = handoff ? fast_join(process->groups, &waker->fast, &t->fast) : group_of(process, t);
	if (g && fast_lapses(g, now)) {
		fast_leave_home(g);
		left = true;
	} else if (g && woken > 1) {
		t->fast.by_many = true;
	} else if (g && handoff) {
		gathers = fast_handoff(g, &t->fast, remote, now);
	}
	if (g && !left)
		home = g->home;
	bpf_spin_unlock(&process->lock);
	if (left)
		count(COUNTER_left);
	if (gathers) {
		home = choose_home(p, here, now) + 1;
		count(COUNTER_gathered);
		bpf_spin_lock(&process->lock);
		g = group_of(process, t);
		if (g)
			fast_go_home(g, home - 1, now);
		bpf_spin_unlock(&process->lock);
	}
	if (home)
		cpu_at(home - 1)->home_until = now + FAST_LAPSE_NS;
	return home - 1;
}

/* The home that the thread was last placed at, if that was not long ago; else -1. */
static s32 last_home(struct task_struct *p, struct thread *t, u64 now)
{
	return t->home && since(t->homed, now) < FAST_LAPSE_NS && may_run(p, t->home - 1) ?
	       t->home - 1 : -1;
}

#endif
