// SPDX-License-Identifier: GPL-2.0
/*
 * The QEMU plugin: drives the model and the clock with what a guest executes.
 *
 *	           clock              begin
 *	  OUTSIDE --------> RUNNING ---------> COUNTING
 *	                       ^                   | write the document
 *	                       +-------------------+
 *	                                end
 *
 * OUTSIDE, translation only looks for markers, so the guest boots and starts its CPUs
 * at its own speed. Its init marks where the clock begins; from there on
 * the model runs to the guest's end, so that a region of interest begins in a state
 * that the clock has made. That marker asks QEMU to drop all translations, which
 * happens at the next block boundary; on_reset() then registers what is wanted.
 *
 * QEMU must run all vCPUs in one thread (-accel tcg,thread=single): there is no
 * lock here, and no other mode is deterministic.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocators.h"
#include "attribution.h"
#include "burner.h"
#include "cachesim.h"
#include "clock.h"
#include "document.h"
#include "futexes.h"
#include "handoffs.h"
#include "latencies.h"
#include "lock_watch.h"
#include "options.h"
#include "pace.h"
#include "qemu_callbacks.h"
#include "qemu_plugin_api.h"
#include "registers.h"
#include "system_map.h"
#include "vcpu.h"
#include "wakeups.h"

/* 0f 1f 84 00 imm32, imm32 = 0x46410000 | id: userspace/roi/roi.h. */
#define MARKER_SIZE 8
#define MARKER_OPCODE 0x00841f0fu
#define MARKER_MAGIC 0x46410000u

enum marker { MARKER_NONE, MARKER_WARMUP, MARKER_BEGIN, MARKER_END, MARKER_CLOCK };

/* What is below it in cr3 is no part of the page table's address. */
#define PAGE_TABLE_MASK 0x000ffffffffff000ull

/* The guest kernel's text and data, mapped linearly from physical address 0 (nokaslr). */
#define KERNEL_MAP_START 0xffffffff80000000ull
#define KERNEL_MAP_END 0xffffffffa0000000ull

/*
 * Of the guest's kernel, x86-64, since Linux 5.16: where in task_struct, behind thread_info, __state
 * is (include/linux/sched.h); and dequeue_task()'s flag that the task sleeps (kernel/sched/sched.h).
 */
#define TASK_STATE 24
#define DEQUEUE_SLEEP 1u

#define GUEST_PAGE 4096u
#define RAM_END (3ull << 30)
#define NOT_RAM (1ull << (CACHESIM_PHYS_BITS - 1))

/* base/tools.py says it earlier. */
#define USE_ANOTHER_QEMU "use QEMU 9.2 to 11.1, and the plugin that belongs to it"

/* What a processor moves at a time of the state that XSAVE and its like save. */
#define STATE_PIECE 16u

/* Blocks between two checks that the vCPU is the one we think it is. */
#define CHECK_INTERVAL 4096u

enum kernel_symbol {
	IDLE_START,
	IDLE_END,
	PER_CPU_OFFSET,
	SCHED_CLOCK_AHEAD,
	/* What takes longer than its instructions (Kbuild/patches/6.12/simulator): functions. */
	IDLE_EXIT,
	INTERRUPT_ARRIVES,
	/* The steps of a wake-up: functions. */
	TRY_TO_WAKE_UP,
	NEW_TASK,
	DEQUEUE,
	SWITCH,
	KERNEL_SYMBOLS
};

static struct symbol kernel[KERNEL_SYMBOLS] = {
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

/* Instructions that are executed one after the other, and the L1I lines they lie in. */
struct block {
	struct block *next;	/* list of all, for freeing */
	enum cachesim_mode mode;
	bool burner;		/* the burner's, not the guest's */
	uint8_t allocator;	/* enum allocator: which begins with it */
	unsigned int charge;	/* cycles that its CPU stands still before it */
	bool reads_tsc;		/* as its last instruction: QEMU ends a block there */
	struct code *code;	/* NULL: nothing is attributed to it */
	unsigned int *fetch;	/* and which instruction of it is the first of each line */
	unsigned int instructions;
	unsigned int n_lines;
	uint64_t lines[];
};

static struct {
	enum { OUTSIDE, RUNNING, COUNTING } state;
	struct cachesim *model;
	struct parallel_clock clock;
	const void *time_control;
	uint64_t begun;		/* local clock at the begin of the region of interest */
	struct futexes *futexes;	/* NULL: not counted, */
	struct lock_watch *locks;	/* and neither are these */
	struct attribution *attribution;	/* NULL: not wanted, */
	struct allocators *allocators;	/* and neither are these */
	uint64_t spaces[CACHESIM_MAX_CPUS];	/* of the programs that run; 0: none is known */
	struct handoffs *handoffs;
	struct wakeups *wakeups;
	uint64_t begun_in;	/* the address space of the begin marker */
	struct options options;
	int out;
	int attributed;		/* the file of what `attribution` has found */
	qemu_plugin_id_t id;
	uintptr_t ram_base;	/* host address of guest physical 0; 0: not known yet */
	struct block *blocks;
	unsigned int cpus;	/* of the model; the vCPU of this number is the burner */
	unsigned int vcpu;	/* that executes now, */
	uintptr_t env;		/* and its mark in a host register: see on_block */
	bool turn_over;		/* QEMU has been asked to go on with the next vCPU */
	struct {
		bool read;	/* the vCPU's registers hold it when its next block begins */
		unsigned int vcpu;
		uint64_t executed;
		uint64_t checked;	/* clock.end when it was last looked at */
	} tsc;
	struct {
		uint64_t number;	/* of the STATE_PIECE bytes that were accessed last, */
		bool stored;		/* and how */
	} piece;
	unsigned int until_check;
	pthread_t vcpu_thread;
	bool have_vcpu_thread;
} sim;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t address_of(enum kernel_symbol symbol)
{
	return kernel[symbol].address;
}

static void say(const char *message)
{
	fprintf(stderr, "cachesim: %s\n", message);
}

/* Ends QEMU: called in a vCPU thread, where its exit handlers could wait for that thread. */
static void die(const char *what, const char *why)
{
	fprintf(stderr, "cachesim: %s: %s\n", what, why);
	_exit(1);
}

static void free_blocks(void)
{
	while (sim.blocks) {
		struct block *b = sim.blocks;

		sim.blocks = b->next;
		free(b->fetch);
		free(b);
	}
}

/* The time of the CPU that executes, in hundredths of a cycle. */
static uint64_t now(void)
{
	return sim.clock.local[sim.vcpu];
}

static void no_memory(void)
{
	die("what is counted by name", "out of memory; give the host more and run again");
}

static uint64_t now_ns(void)
{
	return now() * (1000 / CACHESIM_CYCLE) / sim.options.machine.mhz;
}

/* Whose latencies are wanted. */
static uint64_t program_space(void)
{
	return sim.futexes ? futexes_program_space(sim.futexes) : sim.begun_in;
}

static void collect_latencies(struct region_latencies *latencies)
{
	if (handoffs_latencies(sim.handoffs, program_space(), &latencies->handoff) ||
	    wakeups_latencies(sim.wakeups, program_space(), &latencies->wakeup))
		no_memory();
	latencies_sort(&latencies->handoff);
	latencies_sort(&latencies->wakeup);
}

/* Text, which is freed, as the region's line of a file. */
static void append(int fd, const char *name, char *text, size_t length)
{
	if (!text)
		die(name, "out of memory for the document");
	if (document_append(fd, text, length))
		die(name, strerror(errno));
	free(text);
}

static void write_attribution(void)
{
	size_t length;
	char *text = attribution_format(sim.attribution, program_space(), vcpu_bases(), &length);

	append(sim.attributed, sim.options.attribute, text, length);
}

static void write_document(void)
{
	uint64_t elapsed = latency_between(sim.begun, now()) / CACHESIM_CYCLE;
	struct region_latencies latencies = { 0 };
	struct region_locks locks;
	size_t length;
	char *text;

	collect_latencies(&latencies);
	if (sim.locks && lock_watch_end(sim.locks, sim.handoffs, &locks))
		no_memory();
	text = document_format(sim.model, elapsed, &latencies, sim.locks ? &locks : NULL, &length);
	append(sim.out, sim.options.out, text, length);
	latencies_free(&latencies.handoff);
	latencies_free(&latencies.wakeup);
}

static void on_reset(void);

static uint64_t address_space(void)
{
	return register_read(REGISTER_CR3) & PAGE_TABLE_MASK;
}

/* A turn begins. */
static void tell_pace(void)
{
	if (&pace_turns)
		pace_turns++;
}

static void begin_clock(void)
{
	if (sim.state != OUTSIDE)
		die("the clock begins a second time", "only the guest's init may mark its begin");
	if (!vcpu_learn(address_of(PER_CPU_OFFSET), sim.cpus))
		die("the guest's table of per-CPU offsets cannot be read",
		    "system_map= must be of the kernel that runs");
	clock_start(&sim.clock, &sim.options.machine, cachesim_clocks(sim.model), sim.cpus,
		    sim.options.quantum);
	sim.state = RUNNING;
	sim.env = 0;	/* it is not known yet */
	tell_pace();
	qemu_callbacks_reset(sim.id, on_reset);
}

static void begin_counting(void)
{
	if (sim.state == OUTSIDE)
		die("a region of interest begins before the clock",
		    "the guest's init has to begin it: give it a job with a clock line");
	if (sim.state == COUNTING)
		say("begin marker while counting: counting starts anew");
	cachesim_zero_counts(sim.model);
	sim.begun = now();
	sim.begun_in = address_space();
	sim.state = COUNTING;
	handoffs_begin(sim.handoffs);
	wakeups_begin(sim.wakeups);
	if (sim.futexes) {
		futexes_begin(sim.futexes, sim.begun_in);
		lock_watch_begin(sim.locks);
	}
	if (sim.attribution)
		attribution_begin(sim.attribution);
	memset(sim.spaces, 0, sizeof(sim.spaces));
}

static void end_counting(void)
{
	if (sim.state != COUNTING) {
		say("end marker without a begin marker: no document written");
		return;
	}
	write_document();
	if (sim.attribution)
		write_attribution();
	sim.state = RUNNING;
}

static void on_marker(unsigned int passed, void *userdata)
{
	(void)passed;
	switch ((enum marker)(uintptr_t)userdata) {
	case MARKER_CLOCK:
		begin_clock();
		break;
	case MARKER_BEGIN:
		begin_counting();
		break;
	case MARKER_END:
		end_counting();
		break;
	default:	/* the model is warm already */
		break;
	}
}

static enum marker marker_of(const struct qemu_plugin_insn *insn)
{
	uint32_t word[2];

	if (qemu_plugin_insn_size(insn) != MARKER_SIZE)
		return MARKER_NONE;
	qemu_plugin_insn_data(insn, word, sizeof(word));
	if (word[0] != MARKER_OPCODE || (word[1] & 0xffff0000u) != MARKER_MAGIC)
		return MARKER_NONE;
	word[1] &= 0xffff;
	return word[1] <= MARKER_CLOCK ? word[1] : MARKER_NONE;
}

static void watch_marker(struct qemu_plugin_insn *insn, enum marker marker)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, QEMU_PLUGIN_CB_R_REGS,
					       (void *)(uintptr_t)marker);
}

static bool counts_futexes(void)
{
	return sim.futexes && sim.state == COUNTING;
}

static struct lock_event lock_event(uint64_t space, uint64_t thread)
{
	return (struct lock_event){ space, thread, sim.vcpu, now_ns() };
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
	if (counts_futexes() && futexes_call(sim.futexes, space, thread, number, arguments))
		no_memory();
	if (handoffs_call(sim.handoffs, &event, number, arguments, &news))
		no_memory();
	if (sim.locks && lock_watch_call(sim.locks, &event, number, arguments, &news,
					 (uintptr_t)pc, counts_futexes()))
		no_memory();
}

static void on_kernel_return(unsigned int passed, void *userdata)
{
	bool counts = counts_futexes() && futexes_expects_return(sim.futexes);
	uint64_t space, thread, result;
	struct handoff_news news;
	struct lock_event event;

	(void)passed;
	(void)userdata;
	if (!counts && !handoffs_expects_return(sim.handoffs) &&
	    !(sim.locks && lock_watch_expects_return(sim.locks)) &&
	    !wakeups_expects_return(sim.wakeups, sim.vcpu))
		return;
	/* An interrupt of the kernel itself returns to it. */
	if (!vcpu_has_program_state())
		return;
	space = address_space();
	thread = register_read(REGISTER_FS_BASE);
	result = register_read(REGISTER_RAX);
	if (counts && futexes_return(sim.futexes, space, thread, result))
		no_memory();
	event = lock_event(space, thread);
	handoffs_return(sim.handoffs, &event, result, &news);
	if (sim.locks && lock_watch_return(sim.locks, &event, result, &news))
		no_memory();
	wakeups_return(sim.wakeups, sim.vcpu, space);
}

/* Is it the instruction of these bytes? */
static bool is(const struct qemu_plugin_insn *insn, const uint8_t *expected, size_t size)
{
	uint8_t bytes[3];

	return qemu_plugin_insn_size(insn) == size && size <= sizeof(bytes) &&
	       qemu_plugin_insn_data(insn, bytes, size) == size && !memcmp(bytes, expected, size);
}

/* Programs enter the kernel by syscall; it returns to them by sysretq or iretq. */
static void watch_futexes(struct qemu_plugin_insn *insn)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 }, sysretq[] = { 0x48, 0x0f, 0x07 },
			     iretq[] = { 0x48, 0xcf };
	qemu_plugin_vcpu_udata_cb_t callback = NULL;
	bool kernel = qemu_plugin_insn_vaddr(insn) >> 63;

	if (!kernel && is(insn, syscall, sizeof(syscall)))
		callback = on_system_call;
	else if (kernel && (is(insn, sysretq, sizeof(sysretq)) || is(insn, iretq, sizeof(iretq))))
		callback = on_kernel_return;
	if (callback)
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, callback, QEMU_PLUGIN_CB_R_REGS,
			(void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
}

/* try_to_wake_up(task, mask, flags) does it if the task is in one of the mask's states. */
static void on_try_to_wake_up(unsigned int passed, void *userdata)
{
	uint64_t task = register_read(REGISTER_RDI);
	uint32_t state;

	(void)passed;
	(void)userdata;
	if (!memory_read(task + TASK_STATE, &state, sizeof(state)))
		die("a task's state cannot be read", "system_map= is not that of the guest's kernel");
	if ((state & register_read(REGISTER_RSI)) && wakeups_waking(sim.wakeups, task, now_ns()))
		no_memory();
}

/* wake_up_new_task(task) */
static void on_new_task(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	if (wakeups_new_task(sim.wakeups, register_read(REGISTER_RDI)))
		no_memory();
}

/* dequeue_task_fair(runqueue, task, flags) */
static void on_dequeue(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	if ((register_read(REGISTER_RDX) & DEQUEUE_SLEEP) &&
	    wakeups_sleeps(sim.wakeups, register_read(REGISTER_RSI)))
		no_memory();
}

/* What the instruction at this place of its block takes beside its CPI and its misses. */
static void spend(unsigned int cycles, size_t place)
{
	cachesim_spend(sim.model, sim.vcpu, cycles);
	if (sim.attribution && sim.state == COUNTING)
		attribution_charge(sim.attribution, sim.vcpu, place);
}

/* __switch_to_asm(prev, next) */
static void on_switch(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	spend(sim.options.machine.context_switch, 0);
	if (wakeups_switch(sim.wakeups, sim.vcpu, register_read(REGISTER_RDI),
			   register_read(REGISTER_RSI), now_ns()))
		no_memory();
}

/* The kernel's steps that make a wake-up. */
static void watch_kernel(struct qemu_plugin_insn *insn)
{
	const struct {
		uint64_t vaddr;
		qemu_plugin_vcpu_udata_cb_t callback;
	} steps[] = {
		{ address_of(TRY_TO_WAKE_UP), on_try_to_wake_up },
		{ address_of(NEW_TASK), on_new_task },
		{ address_of(DEQUEUE), on_dequeue },
		{ address_of(SWITCH), on_switch },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (qemu_plugin_insn_vaddr(insn) == steps[i].vaddr)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, steps[i].callback,
							       QEMU_PLUGIN_CB_R_REGS, NULL);
}

/* Kernel text tells where in the host guest RAM begins; all other code then follows. */
static void learn_ram_base(const struct qemu_plugin_insn *insn)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
	uintptr_t haddr = (uintptr_t)qemu_plugin_insn_haddr(insn);

	if (!sim.ram_base && haddr && vaddr >= KERNEL_MAP_START && vaddr < KERNEL_MAP_END)
		sim.ram_base = haddr - (vaddr - KERNEL_MAP_START);
}

/*
 * The physical address of an instruction. Code outside RAM (firmware, I/O) keeps
 * its virtual address, out of the way of RAM's: QEMU does not say more, and host
 * addresses differ from run to run.
 */
static uint64_t code_address(const struct qemu_plugin_insn *insn)
{
	uintptr_t haddr = (uintptr_t)qemu_plugin_insn_haddr(insn);

	if (haddr && sim.ram_base && haddr - sim.ram_base < RAM_END)
		return haddr - sim.ram_base;
	return NOT_RAM | (qemu_plugin_insn_vaddr(insn) & (NOT_RAM - 1));
}

static void on_translate_outside(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	learn_ram_base(qemu_plugin_tb_get_insn(tb, 0));
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		enum marker marker = marker_of(insn);

		if (marker != MARKER_NONE)
			watch_marker(insn, marker);
	}
}

static unsigned int linux_cpu(void)
{
	int cpu = vcpu_current();

	if (cpu < 0)
		die("a vCPU executes that is none of Linux's CPUs",
		    "the guest must start all its CPUs before the clock begins");
	return cpu;
}

/* Find out which vCPU executes `b`. */
static void recognise_vcpu(const struct block *b, uintptr_t env)
{
	unsigned int vcpu = b->burner ? sim.cpus : linux_cpu();

	if (env == sim.env && vcpu != sim.vcpu)
		die("QEMU switched vCPUs unseen",
		    "this QEMU's generated code is not as expected; " USE_ANOTHER_QEMU);
	if (vcpu != sim.vcpu) {
		sim.turn_over = false;
		tell_pace();
	}
	sim.vcpu = vcpu;
	sim.env = env;
	sim.until_check = CHECK_INTERVAL;
}

/*
 * End the turn of the vCPU that executes, at the block's end. The clock does not move: QEMU's
 * counts instructions. But it is asked for in a way that ends the turn.
 */
static void end_turn(void)
{
	if (sim.turn_over)
		return;
	sim.turn_over = true;
	qemu_plugin_update_ns(sim.time_control, 0);
}

/* The guest has read QEMU's clock. */
static void look_at_tsc(void)
{
	uint64_t tsc = register_read(REGISTER_RDX) << 32 |
		       (register_read(REGISTER_RAX) & 0xffffffff);

	clock_correct(&sim.clock, sim.tsc.executed, tsc);
	sim.tsc.read = false;
}

/* The guest kernel's array, by CPU, which its scheduler's clock adds to the TSC. */
static void tell_scheduler(void)
{
	uint64_t *ahead = (uint64_t *)(sim.ram_base + (address_of(SCHED_CLOCK_AHEAD) -
						       KERNEL_MAP_START));

	if (sim.ram_base)
		ahead[sim.vcpu] = clock_ahead(&sim.clock, sim.vcpu);
}

/*
 * The instruction itself says so: a block that a fault leaves in its midst never gets there. It ends
 * its block, so all that has been counted has been executed.
 */
static void on_rdtsc(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	tell_scheduler();
	/* Once a quantum is enough. */
	if (sim.tsc.read || sim.tsc.checked == sim.clock.end)
		return;
	sim.tsc.read = true;
	sim.tsc.vcpu = sim.vcpu;
	sim.tsc.executed = sim.clock.executed;
	sim.tsc.checked = sim.clock.end;
}

static enum clock_doing doing(const struct block *b)
{
	if (b->mode != CACHESIM_IDLE)
		return CLOCK_WORKS;
	/* Only a wait looks at the time there: wait_ticks() of Kbuild/patches/6.12/simulator. */
	return b->reads_tsc ? CLOCK_WAITS : CLOCK_IDLES;
}

/* The address space that the CPU executes in. It stays the same until the CPU enters the kernel. */
static uint64_t space_of(const struct block *b)
{
	if (b->mode != CACHESIM_USER)
		sim.spaces[sim.vcpu] = 0;
	else if (!sim.spaces[sim.vcpu])
		sim.spaces[sim.vcpu] = address_space();
	return sim.spaces[sim.vcpu];
}

static void watch_allocations(const struct block *b)
{
	uint64_t pc;

	if (b->mode != CACHESIM_USER)
		return;
	pc = attribution_address(b->code);
	if (!b->allocator && !lock_watch_expects_code(sim.locks, pc))
		return;
	if (lock_watch_code(sim.locks, address_space(), register_read(REGISTER_FS_BASE), pc,
			    b->allocator))
		no_memory();
}

/* As cachesim_execute() would do it at once. */
static void execute_attributed(const struct block *b)
{
	cachesim_execute(sim.model, sim.vcpu, b->mode, b->instructions, NULL, 0);
	if (attribution_enter(sim.attribution, sim.vcpu, b->code, space_of(b)))
		no_memory();
	for (unsigned int i = 0; i < b->n_lines; i++) {
		cachesim_execute(sim.model, sim.vcpu, b->mode, 0, &b->lines[i], 1);
		attribution_charge(sim.attribution, sim.vcpu, b->fetch[i]);
	}
}

__attribute__((used, visibility("hidden")))
void cachesim_block_executed(unsigned int passed, void *userdata, uintptr_t env)
{
	const struct block *b = userdata;

	(void)passed;
	if (__builtin_expect(env != sim.env || !--sim.until_check, 0))
		recognise_vcpu(b, env);
	if (__builtin_expect(sim.tsc.read, 0) && sim.vcpu == sim.tsc.vcpu)
		look_at_tsc();
	if (__builtin_expect(b->burner, 0)) {
		if (clock_burnt(&sim.clock, b->instructions))
			end_turn();
		return;
	}
	if (__builtin_expect(b->code && sim.allocators, 0))
		watch_allocations(b);
	if (__builtin_expect(b->code && sim.state == COUNTING, 0))
		execute_attributed(b);
	else
		cachesim_execute(sim.model, sim.vcpu, b->mode, b->instructions, b->lines,
				 b->n_lines);
	if (__builtin_expect(b->charge, 0))
		clock_charge(&sim.clock, sim.vcpu, b->charge);
	if (!clock_executed(&sim.clock, sim.vcpu, b->instructions, doing(b)))
		return;
	if (clock_stands(&sim.clock))
		die("the burner does not run, and so the clock stands",
		    "something in the guest has stopped the CPU that Linux does not know");
	end_turn();
}

/* Its place in its block. An idle CPU polls with PAUSE, and sits out what it is charged with it. */
static void on_pause(unsigned int passed, void *place)
{
	(void)passed;
	if (sim.clock.doing[sim.vcpu] != CLOCK_WORKS)
		return;
	spend(sim.options.machine.pause, (uintptr_t)place);
	clock_pause(&sim.clock, sim.vcpu);
}

static bool is_pause(const struct qemu_plugin_insn *insn)
{
	static const uint8_t pause[] = { 0xf3, 0x90 };

	return is(insn, pause, sizeof(pause));
}

static bool reads_tsc(const struct qemu_plugin_insn *insn)
{
	static const uint8_t rdtsc[] = { 0x0f, 0x31 }, rdtscp[] = { 0x0f, 0x01, 0xf9 };

	return is(insn, rdtsc, sizeof(rdtsc)) || is(insn, rdtscp, sizeof(rdtscp));
}

/*
 * Asking the guest which vCPU runs is too slow for every block. On an x86-64 host
 * QEMU's generated code keeps the address of the vCPU's state in %rbp, which
 * the call to on_block() leaves as it is: while it is the same, so is the vCPU.
 * recognise_vcpu() checks that now and then. On other hosts every block asks.
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
	cachesim_block_executed(passed, userdata, sim.env + 1);
}
#endif

#define NOBODY (~0u)

/* The access at vaddr, which lies in one page, of the instruction at this place, or of NOBODY. */
static inline void access_page(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
			       unsigned int size, bool store, unsigned int by)
{
	struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t phys;

	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	phys = qemu_plugin_hwaddr_phys_addr(hw);
	if (store)
		cachesim_store(sim.model, vcpu, phys, size);
	else
		cachesim_load(sim.model, vcpu, phys, size);
	if (by != NOBODY && sim.state == COUNTING &&
	    attribution_access(sim.attribution, vcpu, by, vaddr, phys, size, store))
		no_memory();
}

static inline void access_memory(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
				 bool store, unsigned int by)
{
	unsigned int size = 1u << qemu_plugin_mem_size_shift(info);
	unsigned int here = GUEST_PAGE - (vaddr & (GUEST_PAGE - 1));

	if (__builtin_expect(size <= here, 1)) {
		access_page(vcpu, info, vaddr, size, store, by);
		return;
	}
	access_page(vcpu, info, vaddr, here, store, by);
	access_page(vcpu, info, vaddr + here, size - here, store, by);
}

/* Of what kind an access is; a number of on_accesses[]. */
enum access { LOAD, STORE, STATE_LOAD, STATE_STORE };

static enum qemu_plugin_mem_rw direction(enum access access)
{
	return access == LOAD || access == STATE_LOAD ? QEMU_PLUGIN_MEM_R : QEMU_PLUGIN_MEM_W;
}

/* An access belongs to the block that on_block() saw last. */
static void on_load(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(sim.vcpu, info, vaddr, false, NOBODY);
}

static void on_store(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
		     void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(sim.vcpu, info, vaddr, true, NOBODY);
}

/*
 * An access of an instruction that saves or restores the state of FPU and vectors. QEMU makes it in
 * parts, more or fewer by its version; hardware moves 16 bytes at a time, and so those are one here.
 */
static void access_state(qemu_plugin_meminfo_t info, uint64_t vaddr, bool store, unsigned int by)
{
	uint64_t piece = vaddr / STATE_PIECE;

	if (piece == sim.piece.number && store == sim.piece.stored)
		return;
	sim.piece.number = piece;
	sim.piece.stored = store;
	access_memory(sim.vcpu, info, vaddr, store, by);
}

static void on_state_load(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			  void *userdata)
{
	(void)passed;
	(void)userdata;
	access_state(info, vaddr, false, NOBODY);
}

static void on_state_store(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			   void *userdata)
{
	(void)passed;
	(void)userdata;
	access_state(info, vaddr, true, NOBODY);
}

static const qemu_plugin_vcpu_mem_cb_t on_accesses[] = {
	on_load, on_store, on_state_load, on_state_store,
};

/* Of these the last argument is the instruction's place in its block. */
__attribute__((used, visibility("hidden")))
void cachesim_load_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr, void *place)
{
	(void)passed;
	access_memory(sim.vcpu, info, vaddr, false, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_store_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr, void *place)
{
	(void)passed;
	access_memory(sim.vcpu, info, vaddr, true, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_state_load_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			    void *place)
{
	(void)passed;
	access_state(info, vaddr, false, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_state_store_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			     void *place)
{
	(void)passed;
	access_state(info, vaddr, true, (uintptr_t)place);
}

/*
 * QEMU cuts a block that makes too much code, and where it does the L1I counts anew. So that a block
 * makes as much with attribution as without, the callbacks get no argument there either: each place
 * has a callback of its own, and that supplies it.
 */
#ifdef __x86_64__
#define PLACES 512u	/* of a block of QEMU's, at most */
#define PLACE_SIZE 16u
#define CALLBACKS(name, target)		\
	".balign 16\n"			\
	#name ":\n"			\
	".set place, 0\n"		\
	".rept 512\n"			\
	"	mov $place, %ecx\n"	\
	"	jmp " #target "\n"	\
	".balign 16\n"			\
	".set place, place + 1\n"	\
	".endr\n"
__asm__(".text\n" CALLBACKS(loads_by, cachesim_load_by) CALLBACKS(stores_by, cachesim_store_by)
	CALLBACKS(state_loads_by, cachesim_state_load_by)
	CALLBACKS(state_stores_by, cachesim_state_store_by));
extern const char loads_by[] __attribute__((visibility("hidden")));
extern const char stores_by[] __attribute__((visibility("hidden")));
extern const char state_loads_by[] __attribute__((visibility("hidden")));
extern const char state_stores_by[] __attribute__((visibility("hidden")));

static void watch_access_by(struct qemu_plugin_insn *insn, enum access access, size_t place)
{
	static const char *const callbacks[] = {
		loads_by, stores_by, state_loads_by, state_stores_by,
	};
	uintptr_t callback =
		(uintptr_t)callbacks[access] + (place < PLACES ? place : 0) * PLACE_SIZE;

	qemu_plugin_register_vcpu_mem_cb(insn, (qemu_plugin_vcpu_mem_cb_t)callback,
					 QEMU_PLUGIN_CB_NO_REGS, direction(access), NULL);
}
#else
static void watch_access_by(struct qemu_plugin_insn *insn, enum access access, size_t place)
{
	static const qemu_plugin_vcpu_mem_cb_t callbacks[] = {
		cachesim_load_by, cachesim_store_by, cachesim_state_load_by,
		cachesim_state_store_by,
	};

	qemu_plugin_register_vcpu_mem_cb(insn, callbacks[access], QEMU_PLUGIN_CB_NO_REGS,
					 direction(access), (void *)place);
}
#endif

static void watch_access(struct qemu_plugin_insn *insn, enum access access, const struct block *b)
{
	if (b->code)
		watch_access_by(insn, access, b->instructions - 1);
	else
		qemu_plugin_register_vcpu_mem_cb(insn, on_accesses[access], QEMU_PLUGIN_CB_NO_REGS,
						 direction(access), NULL);
}

/* fxsave, fxrstor, xsave, xrstor, xsaveopt; xrstors, xsavec, xsaves: by the bytes behind a REX. */
static bool moves_state(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[4] = { 0 }, *opcode = bytes;
	unsigned int operation;

	qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	if ((*opcode & 0xf0) == 0x40)
		opcode++;
	operation = opcode[2] >> 3 & 7;
	if (opcode[0] != 0x0f || opcode[2] >> 6 == 3)
		return false;
	return opcode[1] == 0xae ? operation < 2 || (operation >= 4 && operation <= 6) :
	       opcode[1] == 0xc7 ? operation >= 3 && operation <= 5 : false;
}

/* The instruction that was added to the block last. */
static void watch_accesses(struct qemu_plugin_insn *insn, const struct block *b)
{
	bool state = moves_state(insn);

	watch_access(insn, state ? STATE_LOAD : LOAD, b);
	watch_access(insn, state ? STATE_STORE : STORE, b);
}

static bool is_burner(const struct qemu_plugin_insn *first)
{
	return code_address(first) - BURNER_PAGE < BURNER_SIZE;
}

static unsigned int charge_of(const struct qemu_plugin_insn *first)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(first);

	return vaddr == address_of(IDLE_EXIT) ? sim.options.machine.wakeup :
	       vaddr == address_of(INTERRUPT_ARRIVES) ? sim.options.machine.interrupt : 0;
}

static enum allocator allocator_at(const struct qemu_plugin_insn *first)
{
	const uint8_t *code = qemu_plugin_insn_haddr(first);

	if (!sim.allocators || !code)
		return ALLOCATOR_NONE;
	return allocators_at(sim.allocators, qemu_plugin_insn_vaddr(first), code);
}

static void attribute_block(struct block *b, size_t instructions, size_t lines)
{
	if (!sim.attribution)
		return;
	b->code = attribution_code(sim.attribution, b->mode, instructions);
	b->fetch = malloc(lines * sizeof(*b->fetch));
	if (!b->code || !b->fetch)
		no_memory();
}

/*
 * A block for at most `n` instructions from `first` to, at most, `last`, which follow one
 * another.
 */
static struct block *new_block(const struct qemu_plugin_insn *first,
			       const struct qemu_plugin_insn *last, size_t n)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(first);
	uint64_t bytes = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last) - vaddr;
	/*
	 * Two more than fit in full, one for where it is cut by a page. Small
	 * blocks matter: every execution reads one.
	 */
	size_t lines = (bytes >> cachesim_fetch_shift(sim.model)) + 3;
	struct block *b = malloc(sizeof(*b) + lines * sizeof(b->lines[0]));

	if (!b)
		die("translation", "out of memory; give the host more and run again");
	b->mode = vaddr >= address_of(IDLE_START) && vaddr < address_of(IDLE_END) ? CACHESIM_IDLE :
		  vaddr >> 63 ? CACHESIM_KERNEL : CACHESIM_USER;
	b->burner = is_burner(first);
	b->allocator = allocator_at(first);
	b->charge = charge_of(first);
	b->reads_tsc = false;
	b->code = NULL;
	b->fetch = NULL;
	if (!b->burner)
		attribute_block(b, n, lines);
	b->instructions = 0;
	b->n_lines = 0;
	b->next = sim.blocks;
	sim.blocks = b;
	return b;
}

static void add_line(struct block *b, uint64_t address)
{
	uint64_t line = address >> cachesim_fetch_shift(sim.model);

	if (b->n_lines && b->lines[b->n_lines - 1] == line)
		return;
	if (b->fetch)
		b->fetch[b->n_lines] = b->instructions;
	b->lines[b->n_lines++] = line;
}

static void add_instruction(struct block *b, const struct qemu_plugin_insn *insn)
{
	uint64_t first = code_address(insn);
	size_t size = qemu_plugin_insn_size(insn);
	uint64_t in_page = first & (GUEST_PAGE - 1);

	add_line(b, first);
	/* Its tail in another page comes with the next instruction: QEMU gives no address. */
	if (in_page + size <= GUEST_PAGE)
		add_line(b, first + size - 1);
	if (b->code)
		attribution_add(b->code, qemu_plugin_insn_vaddr(insn));
	b->reads_tsc = reads_tsc(insn);
	b->instructions++;
}

/*
 * One callback per block: a translation block, or, where a marker stands in it,
 * the parts up to the marker and after it, so that counting starts and stops at
 * the marker itself.
 */
static void on_translate_inside(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *b = NULL;

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		enum marker marker = marker_of(insn);

		if (!b) {
			b = new_block(insn, qemu_plugin_tb_get_insn(tb, n - 1), n - i);
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_block,
							       QEMU_PLUGIN_CB_R_REGS, b);
		}
		add_instruction(b, insn);
		watch_accesses(insn, b);
		if (is_pause(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pause,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)(b->instructions - 1));
		if (b->reads_tsc)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_rdtsc,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		watch_futexes(insn);
		watch_kernel(insn);
		if (marker != MARKER_NONE) {
			watch_marker(insn, marker);
			b = NULL;
		}
	}
}

/* QEMU has dropped all translations, and with them every use of a block. */
static void on_flush(void)
{
	free_blocks();
}

static void free_all(void)
{
	free_blocks();
	if (sim.locks)
		lock_watch_free(sim.locks);
	if (sim.futexes)
		futexes_free(sim.futexes);
	if (sim.handoffs)
		handoffs_free(sim.handoffs);
	if (sim.wakeups)
		wakeups_free(sim.wakeups);
	attribution_free(sim.attribution);
	allocators_free(sim.allocators);
	cachesim_free(sim.model);
	if (sim.out >= 0)
		close(sim.out);
	if (sim.attributed >= 0)
		close(sim.attributed);
}

static void on_qemu_exit(void)
{
	if (sim.state == COUNTING)
		say("QEMU ends inside a region of interest: its document is not written");
	free_all();
}

static void register_callbacks(void)
{
	const struct qemu_callbacks callbacks = {
		.translated = sim.state == OUTSIDE ? on_translate_outside : on_translate_inside,
		.flushed = on_flush,
		.ended = on_qemu_exit,
	};

	qemu_callbacks_register(sim.id, &callbacks);
}

static void on_reset(void)
{
	free_blocks();
	register_callbacks();
}

/* Runs in the thread that will run the vCPU. */
static void on_vcpu_begun(void)
{
	const char *missing;

	if (sim.have_vcpu_thread && !pthread_equal(sim.vcpu_thread, pthread_self()))
		die("vCPUs run in several threads", "start QEMU with -accel tcg,thread=single");
	sim.vcpu_thread = pthread_self();
	if (sim.have_vcpu_thread)
		return;
	missing = registers_find();
	if (missing)
		die(missing, "this QEMU does not tell this register; " USE_ANOTHER_QEMU);
	sim.have_vcpu_thread = true;
}

static int check_qemu(const qemu_info_t *info, char *error, size_t size)
{
	if (info->version.cur < QEMU_PLUGIN_VERSION || info->version.min > QEMU_PLUGIN_VERSION) {
		snprintf(error, size, "built for version %d of QEMU's plugin API, but this QEMU has "
			 "%d to %d: " USE_ANOTHER_QEMU, QEMU_PLUGIN_VERSION, info->version.min,
			 info->version.cur);
		return -1;
	}
	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		snprintf(error, size, "works in qemu-system-x86_64 only, not in this %s%s",
			 info->target_name, info->system_emulation ? "" : " user emulation");
		return -1;
	}
	if (info->system.smp_vcpus < 2 || info->system.smp_vcpus > (int)CACHESIM_MAX_CPUS + 1) {
		snprintf(error, size, "%d vCPUs: give QEMU one more than the guest's CPUs, which are "
			 "1 to %u: -smp 2 to -smp %u", info->system.smp_vcpus, CACHESIM_MAX_CPUS,
			 CACHESIM_MAX_CPUS + 1);
		return -1;
	}
	if (!qemu_plugin_request_time_control || !qemu_plugin_update_ns) {
		snprintf(error, size, "this QEMU gives plugins no control of time: "
			 USE_ANOTHER_QEMU);
		return -1;
	}
	return 0;
}

/* A file to append to; -1 with a message. */
static int open_output(const char *name, char *error, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		snprintf(error, size, "cannot write %s: %s", name, strerror(errno));
	return fd;
}

/* What the options ask for besides the model. */
static int start_attribution(char *error, size_t size)
{
	if (!sim.options.attribute)
		return 0;
	sim.attribution = attribution_new(sim.model);
	if (!sim.attribution) {
		snprintf(error, size, "out of memory");
		return -1;
	}
	if (!sim.options.allocators)
		return 0;
	sim.allocators = allocators_read(sim.options.allocators, error, size);
	return sim.allocators ? 0 : -1;
}

/* Last, so that who is refused finds no empty file. */
static int open_outputs(char *error, size_t size)
{
	if (sim.options.attribute) {
		sim.attributed = open_output(sim.options.attribute, error, size);
		if (sim.attributed < 0)
			return -1;
	}
	sim.out = open_output(sim.options.out, error, size);
	return sim.out < 0 ? -1 : 0;
}

/* What it has made when it fails is to be freed. */
static int start(const qemu_info_t *info, int argc, char **argv, char *error, size_t size)
{
	const char *why;

	memset(&sim, 0, sizeof(sim));
	sim.out = sim.attributed = -1;
	if (check_qemu(info, error, size) ||
	    options_parse(&sim.options, argc, argv, error, size) ||
	    system_map_find(sim.options.system_map, kernel, KERNEL_SYMBOLS, error, size))
		return -1;
	sim.cpus = info->system.smp_vcpus - 1;
	sim.model = cachesim_new(&sim.options.machine, sim.cpus, &why);
	if (sim.model && sim.options.node_memory)
		why = cachesim_set_node_memory(sim.model, sim.options.node_memory);
	if (why) {
		snprintf(error, size, "machine %s with %u CPUs: %s", sim.options.machine.name,
			 sim.cpus, why);
		return -1;
	}
	sim.time_control = qemu_plugin_request_time_control();
	if (!sim.time_control) {
		snprintf(error, size, "another plugin controls the time: leave it out");
		return -1;
	}
	sim.handoffs = handoffs_new();
	sim.wakeups = wakeups_new();
	sim.futexes = sim.options.futexes ? futexes_new(sim.options.futexes) : NULL;
	sim.locks = sim.futexes ? lock_watch_new(sim.futexes, sim.options.allocators) : NULL;
	if (!sim.handoffs || !sim.wakeups || (sim.options.futexes && !sim.locks)) {
		snprintf(error, size, "out of memory");
		return -1;
	}
	return start_attribution(error, size) || open_outputs(error, size) ? -1 : 0;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	char error[512];

	if (start(info, argc, argv, error, sizeof(error))) {
		say(error);
		free_all();
		return -1;
	}
	sim.id = id;
	qemu_callbacks_at_vcpu(id, on_vcpu_begun);
	register_callbacks();
	return 0;
}
