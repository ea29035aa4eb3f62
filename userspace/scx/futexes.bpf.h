/* SPDX-License-Identifier: GPL-2.0 */
/* Futexes: which thread hands over to which, just before the waiter is woken. */
#ifndef SCX_FUTEXES_BPF_H
#define SCX_FUTEXES_BPF_H

#include "threads.bpf.h"

/*
 * futex_wake() takes the waiter `q` out of its bucket, whose lock it holds, and then wakes it in
 * wake_up_q(). So the current thread is the releaser, and runs still when the waiter is placed.
 * Lock-free programs that find no waiter do not come here.
 */
SEC("fentry/futex_wake_mark")
int BPF_PROG(handoff, struct wake_q_head *wake_q, struct futex_q *q)
{
	struct task_struct *releaser = bpf_get_current_task_btf();
	struct task_struct *waiter = q->task;
	struct thread *t;

	if (settings.mode == MODE_OFF || !waiter || releaser->mm != waiter->mm)
		return 0;
	t = bpf_task_storage_get(&threads, waiter, 0, 0);
	if (!t)
		return 0;
	count(COUNTER_handoffs);
	if (t->ran_on != (s32)bpf_get_smp_processor_id())
		count(COUNTER_handoffs_remote);
	t->released_at = bpf_get_smp_processor_id() + 1;
	t->releaser = releaser->pid;
	return 0;
}

/* Where the lock that wakes it was released, or -1. Called as its releaser. */
static s32 released_at(struct task_struct *p, struct thread *t)
{
	const s32 cpu = t->released_at - 1;

	t->released_at = 0;
	if (cpu < 0 || t->releaser != bpf_get_current_task_btf()->pid)
		return -1;
	if (!may_run(p, cpu)) {
		count(COUNTER_forbidden);
		return -1;
	}
	return cpu;
}

#endif
