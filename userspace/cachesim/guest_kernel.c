// SPDX-License-Identifier: GPL-2.0
#include "guest_kernel.h"

#include <stdio.h>

#include "attributing.h"
#include "guest_time.h"
#include "registers.h"
#include "simulation.h"
#include "system_map.h"
#include "vcpu.h"
#include "wakeups.h"

/*
 * Of the guest's kernel, x86-64, since Linux 5.16: the offset of __state in task_struct, behind
 * thread_info (include/linux/sched.h), and dequeue_task()'s flag that the task sleeps
 * (kernel/sched/sched.h).
 */
#define TASK_STATE 24
#define DEQUEUE_SLEEP 1u

static struct symbol symbols[KERNEL_SYMBOLS] = {
	[IDLE_START] = { .name = "__cpuidle_text_start" },
	[IDLE_END] = { .name = "__cpuidle_text_end" },
	[PER_CPU_OFFSET] = { .name = "__per_cpu_offset" },
	[SCHED_CLOCK_AHEAD] = { .name = "sched_clock_ahead" },
	[IDLE_EXIT] = { .name = "arch_cpu_idle_exit" },
	[INTERRUPT_ARRIVES] = { .name = "interrupt_arrives" },
	[TRY_TO_WAKE_UP] = { .name = "try_to_wake_up" },
	[NEW_TASK] = { .name = "wake_up_new_task" },
	[DEQUEUE] = { .name = "dequeue_task_fair" },
	[SWITCH] = { .name = "__switch_to_asm" },
};

static struct wakeups *wakeups;

int guest_kernel_open(const char *system_map, char *error, size_t size)
{
	if (system_map_find(system_map, symbols, KERNEL_SYMBOLS, error, size))
		return -1;
	wakeups = wakeups_new();
	if (wakeups)
		return 0;
	snprintf(error, size, "out of memory");
	return -1;
}

void guest_kernel_close(void)
{
	if (wakeups)
		wakeups_free(wakeups);
	wakeups = NULL;
}

uint64_t kernel_address(enum kernel_symbol symbol)
{
	return symbols[symbol].address;
}

void guest_kernel_begin(void)
{
	wakeups_begin(wakeups);
}

/* try_to_wake_up(task, mask, flags) wakes the task if it is in one of the mask's states. */
static void on_try_to_wake_up(unsigned int passed, void *userdata)
{
	uint64_t task = register_read(REGISTER_RDI);
	uint32_t state;

	(void)passed;
	(void)userdata;
	if (!memory_read(task + TASK_STATE, &state, sizeof(state)))
		die("a task's state cannot be read",
		    "system_map= must be of the kernel that runs");
	if ((state & register_read(REGISTER_RSI)) &&
	    wakeups_waking(wakeups, task, guest_time_ns()))
		die_without_memory();
}

/* wake_up_new_task(task) */
static void on_new_task(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	if (wakeups_new_task(wakeups, register_read(REGISTER_RDI)))
		die_without_memory();
}

/* dequeue_task_fair(runqueue, task, flags) */
static void on_dequeue(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	if ((register_read(REGISTER_RDX) & DEQUEUE_SLEEP) &&
	    wakeups_sleeps(wakeups, register_read(REGISTER_RSI)))
		die_without_memory();
}

/* __switch_to_asm(prev, next) */
static void on_switch(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	attributing_spend(sim.options.machine.context_switch, 0);
	if (wakeups_switch(wakeups, vcpu.number, register_read(REGISTER_RDI),
			   register_read(REGISTER_RSI), guest_time_ns()))
		die_without_memory();
}

void guest_kernel_watch(struct qemu_plugin_insn *insn)
{
	static const struct {
		enum kernel_symbol symbol;
		qemu_plugin_vcpu_udata_cb_t callback;
	} steps[] = {
		{ TRY_TO_WAKE_UP, on_try_to_wake_up },
		{ NEW_TASK, on_new_task },
		{ DEQUEUE, on_dequeue },
		{ SWITCH, on_switch },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (qemu_plugin_insn_vaddr(insn) == kernel_address(steps[i].symbol))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, steps[i].callback,
							       QEMU_PLUGIN_CB_R_REGS, NULL);
}

bool guest_kernel_expects_return(void)
{
	return wakeups_expects_return(wakeups, vcpu.number);
}

void guest_kernel_return(uint64_t space)
{
	wakeups_return(wakeups, vcpu.number, space);
}

void guest_kernel_latencies(uint64_t program, struct latencies *out)
{
	if (wakeups_latencies(wakeups, program, out))
		die_without_memory();
}
