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
	struct thread *mine = thread_of(releaser), *t;
	const s32 here = bpf_get_smp_processor_id();

	if (!mine || !waiter || releaser->mm != waiter->mm)
		return 0;
	t = bpf_task_storage_get(&threads, waiter, NULL, 0);
	if (!t)
		return 0;
	if (wake_q->first == WAKE_Q_TAIL) {
		mine->marked = 0;
		if (settings.mode == MODE_ADAPTIVE) {
			enter_call(releaser, mine, true);
			cpu_at(here)->wakes = true;
		}
	}
	mine->marked++;
	t->released_at = here + 1;
	t->releaser = releaser->pid;
	return 0;
}

/* On the way back from a call that has woken, to another CPU perhaps: then it is told no end. */
SEC("fexit/futex_wake")
int BPF_PROG(woken)
{
	struct cpu *c = cpu_at(bpf_get_smp_processor_id());
	struct thread *mine;

	if (!c->wakes)
		return 0;
	c->wakes = false;
	mine = thread_of(bpf_get_current_task_btf());
	if (mine)
		leave_call(mine, mine->marked > 1);
	return 0;
}

static void begin_wait(void)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct thread *mine = thread_of(p);

	if (mine)
		enter_call(p, mine, false);
}

static void end_wait(void)
{
	struct thread *mine = thread_of(bpf_get_current_task_btf());

	if (mine)
		leave_call(mine, false);
}

/* Where a thread sleeps: the second function is Linux 6.12's, and the loader takes the one. */
SEC("?fentry/futex_do_wait")
int BPF_PROG(begin_do_wait)
{
	begin_wait();
	return 0;
}

SEC("?fexit/futex_do_wait")
int BPF_PROG(end_do_wait)
{
	end_wait();
	return 0;
}

SEC("?fentry/futex_wait_queue")
int BPF_PROG(begin_wait_queue)
{
	begin_wait();
	return 0;
}

SEC("?fexit/futex_wait_queue")
int BPF_PROG(end_wait_queue)
{
	end_wait();
	return 0;
}

/* Where a thread that wakes up goes for its lock's sake, or -1. */
static s32 lock_cpu(struct task_struct *p, struct thread *t, u64 now)
{
	struct task_struct *releaser = bpf_get_current_task_btf();
	struct thread *waker;
	s32 cpu = t->released_at - 1;

	t->released_at = 0;
	if (cpu < 0 || t->releaser != releaser->pid)
		return -1;
	waker = thread_of(releaser);
	if (!waker)
		return -1;
	if (waker->marked == 1) {
		count(COUNTER_handoffs);
		if (t->ran_on != cpu)
			count(COUNTER_handoffs_remote);
	}
	if (settings.mode == MODE_ADAPTIVE) {
		cpu = home_of(p, t, waker, waker->marked, now);
		t->home = cpu + 1;
		t->homed = now;
	} else if (waker->marked != 1) {
		cpu = -1;
	}
	if (cpu >= 0 && !may_run(p, cpu)) {
		count(COUNTER_forbidden);
		return -1;
	}
	return cpu;
}

#endif
