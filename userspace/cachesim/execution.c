// SPDX-License-Identifier: GPL-2.0
#include "execution.h"

#include "attributing.h"
#include "guest_time.h"
#include "simulation.h"
#include "system_calls.h"
#include "vcpu.h"

/* An idle CPU that reads the TSC waits: wait_ticks() of Kbuild/patches/6.12/simulator. */
static enum clock_doing doing(const struct block *b)
{
	if (b->mode != CACHESIM_IDLE)
		return CLOCK_WORKS;
	return b->reads_tsc ? CLOCK_WAITS : CLOCK_IDLES;
}

__attribute__((used, visibility("hidden")))
void cachesim_block_executed(unsigned int passed, void *userdata, uintptr_t env)
{
	const struct block *b = userdata;

	(void)passed;
	if (__builtin_expect(vcpu_is_unsure(env), 0) && vcpu_recognise(b->burner, env))
		guest_time_turn_begins();
	if (guest_time_has_tsc())
		guest_time_check_tsc();
	if (__builtin_expect(b->burner, 0)) {
		if (clock_burnt(&guest_time.clock, b->instructions))
			guest_time_end_turn();
		return;
	}
	if (__builtin_expect(b->code && attributing.allocators, 0) && b->mode == CACHESIM_USER)
		system_calls_code(attribution_address(b->code), b->allocator);
	if (__builtin_expect(b->code && sim.state == COUNTING, 0))
		attributing_execute(b);
	else
		cachesim_execute(sim.model, vcpu.number, b->mode, b->instructions, b->lines,
				 b->n_lines);
	if (__builtin_expect(b->charge, 0))
		clock_charge(&guest_time.clock, vcpu.number, b->charge);
	if (!clock_executed(&guest_time.clock, vcpu.number, b->instructions, doing(b)))
		return;
	if (clock_stands(&guest_time.clock))
		die("the burner does not run, and so the clock stands",
		    "something in the guest has stopped the CPU that Linux does not know");
	guest_time_end_turn();
}

/*
 * QEMU's generated code keeps `env` in %rbp (vcpu.h), and the call to on_block() leaves it there.
 * On hosts other than x86-64 the plugin recognises the vCPU before every block.
 */
#ifdef __x86_64__
__asm__(".text\n"
	".type on_block, @function\n"
	"on_block:\n"
	"	mov %rbp, %rdx\n"
	"	jmp cachesim_block_executed\n"
	".size on_block, . - on_block\n");
__attribute__((visibility("hidden"))) void on_block(unsigned int passed, void *userdata);
#else
static void on_block(unsigned int passed, void *userdata)
{
	cachesim_block_executed(passed, userdata, vcpu.env + 1);
}
#endif

void execution_watch(struct qemu_plugin_insn *first, struct block *b)
{
	qemu_plugin_register_vcpu_insn_exec_cb(first, on_block, QEMU_PLUGIN_CB_R_REGS, b);
}

/* An idle CPU polls with PAUSE, and passes with it the time that it is charged. */
static void on_pause(unsigned int passed, void *place)
{
	(void)passed;
	if (guest_time.clock.doing[vcpu.number] != CLOCK_WORKS)
		return;
	attributing_spend(sim.options.machine.pause, (uintptr_t)place);
	clock_pause(&guest_time.clock, vcpu.number);
}

void execution_watch_pause(struct qemu_plugin_insn *insn, size_t place)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pause, QEMU_PLUGIN_CB_NO_REGS,
					       (void *)(uintptr_t)place);
}
