// SPDX-License-Identifier: GPL-2.0
/*
 * scx_fast: futex aware scheduling as a scheduler that is loaded (sched_ext).
 *
 * A hook at the kernel's futexes tells which thread hands over to which, just before the waiter is
 * woken; then ops.select_cpu() places it. No function of the kernel is changed.
 */
#include "futexes.bpf.h"
#include "placing.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops/select_cpu")
s32 BPF_PROG(fast_select_cpu, struct task_struct *p, s32 prev, u64 flags)
{
	bool idle = false;
	s32 cpu = lock_cpu(p, prev);
	struct thread *t;

	if (cpu >= 0 && (t = thread_of(p))) {
		t->keeps = true;
		count(COUNTER_placed);
		claim(p, cpu);
		if (t->fast.preempts)
			insert(p, SCX_DSQ_LOCAL, settings.slice_ns, SCX_ENQ_PREEMPT);
	} else {
		cpu = place(p, prev, flags, &idle);
	}
	count(idle ? COUNTER_idle : COUNTER_queued);
	return cpu;
}

SEC("struct_ops/enqueue")
void BPF_PROG(fast_enqueue, struct task_struct *p, u64 flags)
{
	struct thread *t = thread_of(p);
	s32 cpu = scx_bpf_task_cpu(p), home;
	struct cpu *c = cpu_at(cpu);

	/* The CPU is idle: it need not look into its queue. */
	if (!t || (c->idle_since && !c->arrives)) {
		c->arrives = true;
		insert(p, SCX_DSQ_LOCAL, settings.slice_ns, flags);
		return;
	}
	/* A wake-up has its CPU. This program itself keeps what runs here from moving (common.bpf.h). */
	if (!(flags & SCX_ENQ_WAKEUP) &&
	    p->migration_disabled <= (p == bpf_get_current_task_btf())) {
		home = last_home(p, t, clock());
		t->keeps = home >= 0;
		if (t->keeps)
			cpu = home;
		else if (held_up(cpu))
			cpu = least_loaded(p, cpu);
	}
	enqueue_at(p, t, cpu, flags);
	if (cpu != scx_bpf_task_cpu(p))
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
}

SEC("struct_ops/dispatch")
void BPF_PROG(fast_dispatch, s32 cpu, struct task_struct *prev)
{
	struct cpu *c = cpu_at(cpu);
	const bool runnable = prev && prev->scx.flags & SCX_TASK_QUEUED;

	if (c->queued > 0 && !(runnable && goes_on(prev, c, cpu)) &&
	    (balance(cpu, c) || take_first(cpu)))
		return;
	if (runnable)
		prev->scx.slice = settings.slice_ns;
	else if (shared.waiting)
		take_for_idle(cpu, c);
}

/* Another class takes the CPU: what waits there may go where it can run. */
SEC("struct_ops/cpu_release")
void BPF_PROG(fast_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	struct cpu *c = cpu_at(cpu);

	c->runs = false;
	/* It is held up as if for long. */
	c->changed = 0;
	if (scx_bpf_reenqueue_local() || c->queued > 0)
		call_idle();
}

SEC("struct_ops/update_idle")
void BPF_PROG(fast_update_idle, s32 cpu, bool idle)
{
	struct cpu *c = cpu_at(cpu);

	if (idle) {
		c->runs = false;
		c->arrives = false;
		c->idle = 1;
		if (!c->idle_since)
			c->idle_since = c->changed;
	} else if (c->idle) {
		/* It was not claimed: another class takes it. */
		c->idle = 0;
		c->idle_since = 0;
		c->changed = clock();
	}
}

SEC("struct_ops/tick")
void BPF_PROG(fast_tick, struct task_struct *p)
{
	if (cpu_at(bpf_get_smp_processor_id())->queued > 0)
		call_idle();
}

SEC("struct_ops/running")
void BPF_PROG(fast_running, struct task_struct *p)
{
	struct thread *t = thread_of(p);
	const s32 cpu = bpf_get_smp_processor_id();
	struct cpu *c = cpu_at(cpu);
	const u64 now = clock();

	if (!t)
		return;
	if (t->cpu != cpu) {
		t->cpu = cpu;
		count(COUNTER_migrations);
	}
	if (t->queued) {
		t->delay += since(t->queued, now);
		leave_queue(t);
	}
	if (c->idle_since)
		end_idle(c, now);
	c->runs = true;
	c->arrives = false;
	t->started = now;
	t->keeps = false;
	if (t->slept)
		leave_call(t, false);
	t->slept = false;
	if (t->ahead > 0) {
		c->vtime += t->ahead;
		t->ahead = 0;
	}
}

SEC("struct_ops/stopping")
void BPF_PROG(fast_stopping, struct task_struct *p, bool runnable)
{
	struct thread *t = thread_of(p);
	struct cpu *c;
	u64 now, ran;

	if (!t || !t->started)
		return;
	c = cpu_at(bpf_get_smp_processor_id());
	now = clock();
	c->runs = false;
	c->changed = now;
	ran = now - t->started;
	/* Most threads sleep in futex calls, and no other way to tell is as cheap. */
	if (!runnable)
		enter_call(p, t, false);
	t->slept = !runnable;
	t->ahead += by_weight(p, ran);
	age_load(c, 1 + (c->queued > 0 ? c->queued : 0), ran);
	t->ran += ran;
	t->started = 0;
	t->stopped = now;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(fast_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct thread *t = bpf_task_storage_get(&threads, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		return -12;	/* ENOMEM */
	t->cpu = scx_bpf_task_cpu(p);
	return 0;
}

/* It ends, or gets a policy of another class. */
SEC("struct_ops/disable")
void BPF_PROG(fast_disable, struct task_struct *p)
{
	struct thread *t = thread_of(p);

	if (t)
		leave_queue(t);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(fast_init)
{
	s32 cpu, error = 0;

	bpf_for(cpu, 0, settings.nr_cpus) {
		cpu_at(cpu)->idle_mean = IDLE_MOST_NS;
		error = scx_bpf_create_dsq(cpu, -1);
		if (error)
			break;
	}
	return error;
}

SEC("struct_ops/exit")
void BPF_PROG(fast_exit, struct scx_exit_info *info)
{
	bpf_probe_read_kernel_str(shared.exit_reason, sizeof(shared.exit_reason), info->reason);
	bpf_probe_read_kernel_str(shared.exit_message, sizeof(shared.exit_message), info->msg);
	shared.exit_code = info->exit_code;
	shared.exit_kind = info->kind;
}

SEC(".struct_ops.link")
struct sched_ext_ops fast_ops = {
	.select_cpu = (void *)fast_select_cpu,
	.enqueue = (void *)fast_enqueue,
	.dispatch = (void *)fast_dispatch,
	.tick = (void *)fast_tick,
	.cpu_release = (void *)fast_cpu_release,
	.update_idle = (void *)fast_update_idle,
	.running = (void *)fast_running,
	.stopping = (void *)fast_stopping,
	.disable = (void *)fast_disable,
	.init_task = (void *)fast_init_task,
	.init = (void *)fast_init,
	.exit = (void *)fast_exit,
	.timeout_ms = 5000,
	.name = "fast",
};
