/* SPDX-License-Identifier: GPL-2.0 */
/* Futexes: which thread hands over to which, just before the waiter is woken. */
#ifndef SCX_FUTEXES_BPF_H
#define SCX_FUTEXES_BPF_H

#include "groups.bpf.h"

/* The end of a wake queue (include/linux/sched/wake_q.h). */
#define WAKE_Q_TAIL ((struct wake_q_node *)1)

/*
 * futex_wake() takes the waiter `q` out of its bucket, whose lock it holds, and wakes all that it
 * has taken in wake_up_q(). So the current thread is the releaser, and runs still when the waiter
 * is placed. A call that finds no waiter does not come here.
 */
SEC("fentry/futex_wake_mark")
int BPF_PROG(marked, struct wake_q_head *wake_q, struct futex_q *q)
{
	struct task_struct *releaser = bpf_get_current_task_btf(), *waiter = q->task;
	struct cpu *here = cpu_at(bpf_get_smp_processor_id());
	struct thread *mine;

	if (!waiter || releaser->mm != waiter->mm)
		return 0;
	if (wake_q->first == WAKE_Q_TAIL) {
		here->marked = 0;
		here->releaser = releaser->pid;
		if (settings.mode == MODE_ADAPTIVE && (mine = thread_of(releaser)))
			enter_call(releaser, mine, true);
	}
	here->marked++;
	here->waiter = waiter->pid;
	return 0;
}

/*
 * The last that a call does that has woken, on another CPU perhaps: then it is told no end.
 * futex_wake() itself has no hook: most calls find no waiter.
 */
SEC("fexit/wake_up_q")
int BPF_PROG(woken)
{
	struct task_struct *releaser = bpf_get_current_task_btf();
	struct cpu *here = cpu_at(bpf_get_smp_processor_id());
	struct thread *mine;

	if (here->releaser != releaser->pid)
		return 0;
	here->releaser = 0;
	mine = thread_of(releaser);
	if (!mine)
		return 0;
	if (settings.mode == MODE_ADAPTIVE)
		leave_call(mine, here->marked > 1);
	mine->fast.woke = bpf_ktime_get_ns();
	return 0;
}

/* In adaptive: the home of its group, or -1. */
static s32 group_cpu(struct task_struct *p, struct task_struct *releaser, u32 woken)
{
	struct thread *t = thread_of(p), *waker = thread_of(releaser);
	const u64 now = bpf_ktime_get_ns();
	s32 cpu;

	if (!t || !waker)
		return -1;
	cpu = home_of(p, t, waker, woken, now);
	if (cpu >= 0 && held_up(cpu))
		return -1;
	t->home = cpu + 1;
	t->homed = now;
	return cpu;
}

/* Where a thread that wakes up goes for its lock's sake, or -1. */
static s32 lock_cpu(struct task_struct *p, s32 prev)
{
	s32 cpu = bpf_get_smp_processor_id();
	struct cpu *here = cpu_at(cpu);
	struct task_struct *releaser;
	struct thread *waker;
	bool handoff;

	if (settings.mode == MODE_OFF || !here->releaser)
		return -1;
	releaser = bpf_get_current_task_btf();
	handoff = here->marked == 1;
	if (here->releaser != releaser->pid || (handoff && here->waiter != p->pid))
		return -1;
	if (handoff) {
		count(COUNTER_handoffs);
		if (prev != cpu)
			count(COUNTER_handoffs_remote);
	}
	if (settings.mode == MODE_ADAPTIVE) {
		cpu = group_cpu(p, releaser, here->marked);
	} else {
		waker = thread_of(releaser);
		if (!waker ||
		    !fast_hands_over(&waker->fast, here->marked, bpf_ktime_get_ns()))
			return -1;
	}
	if (cpu >= 0 && !may_run(p, cpu)) {
		count(COUNTER_forbidden);
		return -1;
	}
	return cpu;
}

#endif
