// SPDX-License-Identifier: GPL-2.0
#include "system_calls.h"

#include "futexes.h"
#include "guest_kernel.h"
#include "guest_time.h"
#include "handoffs.h"
#include "instructions.h"
#include "lock_watch.h"
#include "registers.h"
#include "simulation.h"
#include "vcpu.h"

static struct {
	struct handoffs *handoffs;
	struct futexes *futexes;	/* NULL: not watched */
	struct lock_watch *locks;	/* NULL: not watched */
	uint64_t begun_in;		/* the address space of the begin marker */
} calls;

int system_calls_open(const struct options *options)
{
	calls.handoffs = handoffs_new();
	if (!calls.handoffs)
		return -1;
	if (!options->futexes)
		return 0;
	calls.futexes = futexes_new(options->futexes);
	if (!calls.futexes)
		return -1;
	calls.locks = lock_watch_new(calls.futexes, options->allocators);
	return calls.locks ? 0 : -1;
}

void system_calls_close(void)
{
	if (calls.locks)
		lock_watch_free(calls.locks);
	if (calls.futexes)
		futexes_free(calls.futexes);
	if (calls.handoffs)
		handoffs_free(calls.handoffs);
	calls.handoffs = NULL;
	calls.futexes = NULL;
	calls.locks = NULL;
}

void system_calls_begin(uint64_t space)
{
	calls.begun_in = space;
	handoffs_begin(calls.handoffs);
	if (calls.futexes) {
		futexes_begin(calls.futexes, space);
		lock_watch_begin(calls.locks);
	}
}

const struct region_locks *system_calls_end(struct region_locks *locks)
{
	if (!calls.locks)
		return NULL;
	if (lock_watch_end(calls.locks, calls.handoffs, locks))
		die_without_memory();
	return locks;
}

static bool counts_futexes(void)
{
	return calls.futexes && sim.state == COUNTING;
}

static struct lock_event lock_event(uint64_t space, uint64_t thread)
{
	return (struct lock_event){ space, thread, vcpu.number, guest_time_ns() };
}

static void on_system_call(unsigned int passed, void *pc)
{
	uint64_t space = address_space(), thread = register_read(REGISTER_FS_BASE);
	uint64_t number = register_read(REGISTER_RAX);
	const uint64_t arguments[] = {
		register_read(REGISTER_RDI),
		register_read(REGISTER_RSI),
		register_read(REGISTER_RDX),
	};
	const struct lock_event event = lock_event(space, thread);
	struct handoff_news news;

	(void)passed;
	if (counts_futexes() && futexes_call(calls.futexes, space, thread, number, arguments))
		die_without_memory();
	if (handoffs_call(calls.handoffs, &event, number, arguments, &news))
		die_without_memory();
	if (calls.locks && lock_watch_call(calls.locks, &event, number, arguments, &news,
					   (uintptr_t)pc, counts_futexes()))
		die_without_memory();
}

static void on_kernel_return(unsigned int passed, void *userdata)
{
	bool counts = counts_futexes() && futexes_expects_return(calls.futexes);
	uint64_t space, thread, result;
	struct handoff_news news;
	struct lock_event event;

	(void)passed;
	(void)userdata;
	if (!counts && !handoffs_expects_return(calls.handoffs) &&
	    !(calls.locks && lock_watch_expects_return(calls.locks)) &&
	    !guest_kernel_expects_return())
		return;
	/* An interrupt of the kernel itself returns to it. */
	if (!vcpu_has_program_state())
		return;
	space = address_space();
	thread = register_read(REGISTER_FS_BASE);
	result = register_read(REGISTER_RAX);
	if (counts && futexes_return(calls.futexes, space, thread, result))
		die_without_memory();
	event = lock_event(space, thread);
	handoffs_return(calls.handoffs, &event, result, &news);
	if (calls.locks && lock_watch_return(calls.locks, &event, result, &news))
		die_without_memory();
	guest_kernel_return(space);
}

void system_calls_watch(struct qemu_plugin_insn *insn)
{
	qemu_plugin_vcpu_udata_cb_t callback =
		instruction_enters_kernel(insn) ? on_system_call :
		instruction_leaves_kernel(insn) ? on_kernel_return : NULL;

	if (callback)
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, callback, QEMU_PLUGIN_CB_R_REGS,
			(void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
}

void system_calls_code(uint64_t pc, enum allocator function)
{
	if (!function && !lock_watch_expects_code(calls.locks, pc))
		return;
	if (lock_watch_code(calls.locks, address_space(), register_read(REGISTER_FS_BASE), pc,
			    function))
		die_without_memory();
}

uint64_t system_calls_program(void)
{
	return calls.futexes ? futexes_program_space(calls.futexes) : calls.begun_in;
}

void system_calls_latencies(struct latencies *out)
{
	if (handoffs_latencies(calls.handoffs, system_calls_program(), out))
		die_without_memory();
}
