// SPDX-License-Identifier: GPL-2.0
/* The path from QEMU to the model is in this file, so that the compiler inlines it. */
#include "execution.h"

#include "attributing.h"
#include "guest_time.h"
#include "hits.h"
#include "simulation.h"
#include "system_calls.h"
#include "vcpu.h"

/* A block begins. */
static inline void begin(bool burner, uintptr_t env)
{
	if (__builtin_expect(vcpu_is_unsure(env), 0) && vcpu_recognise(burner, env))
		guest_time_turn_begins();
	if (guest_time_has_tsc())
		guest_time_check_tsc();
}

/* `instructions` have been executed. */
static __attribute__((noinline)) void tell_clock(unsigned int instructions, enum clock_doing doing)
{
	if (!clock_executed(&guest_time.clock, vcpu.number, instructions, doing))
		return;
	if (clock_stands(&guest_time.clock))
		die("the burner does not run, and so the clock stands",
		    "something in the guest has stopped the CPU that Linux does not know");
	guest_time_end_turn();
}

/* Where misses overlap, locked instructions happen in the order of time. */
static bool orders_locks(void)
{
	return sim.options.machine.overlap > 1;
}

/* A program executes the block. If a lock came after it last time, the turn may have to end. */
static void look_for_lock(struct block *b)
{
	struct block **last = block_last[vcpu.number];

	if (last[0] && last[1])
		last[1]->before_lock = last[0]->locked || last[0]->took;
	last[1] = last[0];
	last[0] = b;
	b->took = false;
	if (b->before_lock &&
	    clock_locks(&guest_time.clock, vcpu.number,
			cachesim_lock_delay(sim.model, vcpu.number, block_locked[vcpu.number])))
		guest_time_end_turn();
}

/*
 * Most blocks are of a program or the kernel, in lines that follow one another, and the model and
 * the clock count them, no more. What those need is in the callback's argument itself, so that the
 * host's caches have one line less to hold: the mode, the numbers of lines and of instructions, and
 * the first line.
 */
#define MODE_BITS 2u
#define LINES_BITS 5u
#define INSTRUCTIONS_BITS 10u
#define LINE_SHIFT (MODE_BITS + LINES_BITS + INSTRUCTIONS_BITS)
_Static_assert(LINE_SHIFT + CACHESIM_PHYS_BITS <= 64, "a line's number has room");

static bool fits(const struct block *b)
{
	if (b->code || b->charge || b->mode == CACHESIM_IDLE || b->n_lines >> LINES_BITS ||
	    b->instructions >> INSTRUCTIONS_BITS || (b->mode == CACHESIM_USER && orders_locks()))
		return false;
	for (unsigned int i = 1; i < b->n_lines; i++)
		if (b->lines[i] != b->lines[0] + i)
			return false;
	return sizeof(void *) == sizeof(uint64_t);
}

static void *packed(const struct block *b)
{
	return (void *)(uintptr_t)(b->lines[0] << LINE_SHIFT |
				   (uint64_t)b->instructions << (MODE_BITS + LINES_BITS) |
				   (uint64_t)b->n_lines << MODE_BITS | b->mode);
}

__attribute__((used, visibility("hidden")))
void cachesim_packed_block(unsigned int passed, void *userdata, uintptr_t env)
{
	uint64_t block = (uintptr_t)userdata;
	enum cachesim_mode mode = block & ((1u << MODE_BITS) - 1);
	unsigned int n = block >> MODE_BITS & ((1u << LINES_BITS) - 1);
	unsigned int instructions =
		block >> (MODE_BITS + LINES_BITS) & ((1u << INSTRUCTIONS_BITS) - 1);

	(void)passed;
	begin(false, env);
	hits_execute(sim.model, vcpu.number, mode, instructions, block >> LINE_SHIFT, n);
	if (!clock_goes_on(&guest_time.clock, vcpu.number, instructions))
		tell_clock(instructions, CLOCK_WORKS);
}

/* Of the burner: `instructions` are all that there is to know of the block. */
__attribute__((used, visibility("hidden")))
void cachesim_burnt(unsigned int passed, void *instructions, uintptr_t env)
{
	(void)passed;
	begin(true, env);
	if (clock_burnt(&guest_time.clock, (uintptr_t)instructions))
		guest_time_end_turn();
}

/* An idle CPU that reads the TSC waits: wait_ticks() of Kbuild/patches/6.12/simulator. */
static enum clock_doing doing(const struct block *b)
{
	if (b->mode != CACHESIM_IDLE)
		return CLOCK_WORKS;
	return b->reads_tsc ? CLOCK_WAITS : CLOCK_IDLES;
}

/* Any other block. */
__attribute__((used, visibility("hidden")))
void cachesim_block(unsigned int passed, void *userdata, uintptr_t env)
{
	struct block *b = userdata;

	(void)passed;
	begin(false, env);
	if (b->code && attributing.allocators && b->mode == CACHESIM_USER)
		system_calls_code(attribution_address(b->code), b->allocator);
	if (b->code && sim.state == COUNTING)
		attributing_execute(b);
	else
		cachesim_execute(sim.model, vcpu.number, b->mode, b->instructions, b->lines,
				 b->n_lines);
	if (b->charge)
		clock_charge(&guest_time.clock, vcpu.number, b->charge);
	tell_clock(b->instructions, doing(b));
	if (b->mode == CACHESIM_USER && orders_locks())
		look_for_lock(b);
}

/*
 * QEMU's generated code keeps `env` in %rbp (vcpu.h), and the call to a callback leaves it there.
 * On hosts other than x86-64 the plugin recognises the vCPU before every block.
 */
#ifdef __x86_64__
#define WITH_ENV(name, target)				\
	__asm__(".text\n"				\
		".type " #name ", @function\n"		\
		#name ":\n"				\
		"	mov %rbp, %rdx\n"		\
		"	jmp " #target "\n"		\
		".size " #name ", . - " #name "\n");	\
	__attribute__((visibility("hidden"))) void name(unsigned int passed, void *userdata)
#else
#define WITH_ENV(name, target)						\
	static void name(unsigned int passed, void *userdata)		\
	{								\
		target(passed, userdata, vcpu.env + 1);			\
	}								\
	_Static_assert(1, "")
#endif
WITH_ENV(on_burnt, cachesim_burnt);
WITH_ENV(on_packed_block, cachesim_packed_block);
WITH_ENV(on_block, cachesim_block);

void execution_watch(struct qemu_plugin_insn *first, struct block *b)
{
	bool fit = !b->burner && fits(b);

	qemu_plugin_register_vcpu_insn_exec_cb(
		first, b->burner ? on_burnt : fit ? on_packed_block : on_block,
		QEMU_PLUGIN_CB_R_REGS,
		b->burner ? (void *)(uintptr_t)b->instructions : fit ? packed(b) : b);
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
