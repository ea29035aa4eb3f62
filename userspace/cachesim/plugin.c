// SPDX-License-Identifier: GPL-2.0
/*
 * The QEMU plugin: drives the model with what a guest executes between the
 * region-of-interest markers.
 *
 *	           warm-up or begin            begin
 *	  OUTSIDE ------------------> WARMUP ---------> COUNTING
 *	     ^                           |                  | write the document
 *	     +---------------------------+------------------+
 *	                          end
 *
 * OUTSIDE, translation only looks for markers, so the guest runs at its own
 * speed. Entering and leaving asks QEMU to drop all translations, which happens
 * at the next block boundary; on_reset() then registers what the state wants.
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

#include "cachesim.h"
#include "document.h"
#include "futexes.h"
#include "options.h"
#include "qemu_plugin_api.h"
#include "registers.h"
#include "vcpu.h"

/* 0f 1f 84 00 imm32, imm32 = 0x46410000 | id: userspace/roi/roi.h. */
#define MARKER_SIZE 8
#define MARKER_OPCODE 0x00841f0fu
#define MARKER_MAGIC 0x46410000u

enum marker { MARKER_NONE, MARKER_WARMUP, MARKER_BEGIN, MARKER_END };

/* What is below it in cr3 is no part of the page table's address. */
#define PAGE_TABLE_MASK 0x000ffffffffff000ull

/* The guest kernel's text and data, mapped linearly from physical address 0 (nokaslr). */
#define KERNEL_MAP_START 0xffffffff80000000ull
#define KERNEL_MAP_END 0xffffffffa0000000ull

#define GUEST_PAGE 4096u
#define RAM_END (3ull << 30)
#define NOT_RAM (1ull << (CACHESIM_PHYS_BITS - 1))

/* Blocks between two checks that the vCPU is the one we think it is. */
#define CHECK_INTERVAL 4096u

/* Instructions that are executed one after the other, and the L1I lines they lie in. */
struct block {
	struct block *next;	/* list of all, for freeing */
	uint64_t translator;	/* vcpu_identity() of the vCPU that translated it */
	enum cachesim_mode mode;
	unsigned int instructions;
	unsigned int n_lines;
	uint64_t lines[];
};

static struct {
	enum { OUTSIDE, WARMUP, COUNTING } state;
	struct cachesim *model;
	struct futexes *futexes;	/* NULL: not counted */
	struct options options;
	int out;
	qemu_plugin_id_t id;
	uintptr_t ram_base;	/* host address of guest physical 0; 0: not known yet */
	struct block *blocks;
	unsigned int vcpu;	/* that executes now, */
	uintptr_t env;		/* and its mark in a host register: see on_block */
	unsigned int until_check;
	pthread_t vcpu_thread;
	bool have_vcpu_thread;
} sim;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

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
		free(b);
	}
}

static void write_document(void)
{
	size_t length;
	char *text = document_format(sim.model, 0, sim.futexes, &length);

	if (!text)
		die(sim.options.out, "out of memory for the document");
	if (document_append(sim.out, text, length))
		die(sim.options.out, strerror(errno));
	free(text);
}

static void on_reset(qemu_plugin_id_t id);

static void enter(int state)
{
	bool instrumented = sim.state != OUTSIDE;

	sim.state = state;
	sim.env = 0;	/* others may have run since */
	if (instrumented != (state != OUTSIDE))
		qemu_plugin_reset(sim.id, on_reset);
}

static uint64_t address_space(void)
{
	return register_read(REGISTER_CR3) & PAGE_TABLE_MASK;
}

static void begin_counting(void)
{
	cachesim_zero_counts(sim.model);
	if (sim.futexes)
		futexes_begin(sim.futexes, address_space());
}

static void on_marker(unsigned int passed, void *userdata)
{
	(void)passed;
	switch ((enum marker)(uintptr_t)userdata) {
	case MARKER_WARMUP:
		if (sim.state != OUTSIDE)
			say("warm-up marker inside a region of interest: it starts anew");
		cachesim_reset(sim.model);
		enter(WARMUP);
		break;
	case MARKER_BEGIN:
		if (sim.state == COUNTING)
			say("begin marker while counting: counting starts anew");
		if (sim.state == OUTSIDE)
			cachesim_reset(sim.model);
		begin_counting();
		enter(COUNTING);
		break;
	case MARKER_END:
		if (sim.state == COUNTING)
			write_document();
		else
			say("end marker without a begin marker: no document written");
		enter(OUTSIDE);
		break;
	default:
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
	return word[1] <= MARKER_END ? word[1] : MARKER_NONE;
}

static void watch_marker(struct qemu_plugin_insn *insn, enum marker marker)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, QEMU_PLUGIN_CB_R_REGS,
					       (void *)(uintptr_t)marker);
}

static void on_system_call(unsigned int passed, void *userdata)
{
	const uint64_t arguments[] = {
		register_read(REGISTER_RDI),
		register_read(REGISTER_RSI),
		register_read(REGISTER_RDX),
	};

	(void)passed;
	(void)userdata;
	if (sim.state == COUNTING &&
	    futexes_call(sim.futexes, address_space(), register_read(REGISTER_FS_BASE),
			 register_read(REGISTER_RAX), arguments))
		die("futexes", "out of memory; give the host more and run again");
}

static void on_kernel_return(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	if (sim.state != COUNTING || !futexes_expects_return(sim.futexes))
		return;
	/* An interrupt of the kernel itself returns to it. */
	if (vcpu_has_program_state() &&
	    futexes_return(sim.futexes, address_space(), register_read(REGISTER_FS_BASE),
			   register_read(REGISTER_RAX)))
		die("futexes", "out of memory; give the host more and run again");
}

/* Programs enter the kernel by syscall; it returns to them by sysretq or iretq. */
static void watch_futexes(struct qemu_plugin_insn *insn)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 }, sysretq[] = { 0x48, 0x0f, 0x07 },
			     iretq[] = { 0x48, 0xcf };
	qemu_plugin_vcpu_udata_cb_t callback = NULL;
	bool kernel = qemu_plugin_insn_vaddr(insn) >> 63;
	size_t size = qemu_plugin_insn_size(insn);
	uint8_t bytes[3];

	if (size > sizeof(bytes))
		return;
	qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	if (!kernel && size == sizeof(syscall) && !memcmp(bytes, syscall, size))
		callback = on_system_call;
	else if (kernel && ((size == sizeof(sysretq) && !memcmp(bytes, sysretq, size)) ||
			    (size == sizeof(iretq) && !memcmp(bytes, iretq, size))))
		callback = on_kernel_return;
	if (callback)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, callback, QEMU_PLUGIN_CB_R_REGS, NULL);
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

/* userdata: the vCPU that translated the code. */
static void on_new_vcpu(unsigned int passed, void *userdata)
{
	if (vcpu_identity() == (uintptr_t)userdata)
		vcpu_learn((uintptr_t)userdata, passed);
}

/* Meet every vCPU before the first region of interest. */
static void watch_new_vcpu(struct qemu_plugin_insn *insn)
{
	uint64_t identity = vcpu_identity();

	if (identity && vcpu_index(identity) < 0)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_new_vcpu, QEMU_PLUGIN_CB_R_REGS,
						       (void *)(uintptr_t)identity);
}

static void on_translate_outside(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	learn_ram_base(qemu_plugin_tb_get_insn(tb, 0));
	watch_new_vcpu(qemu_plugin_tb_get_insn(tb, 0));
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		enum marker marker = marker_of(insn);

		if (marker != MARKER_NONE)
			watch_marker(insn, marker);
	}
}

/* Find out which vCPU executes `b`. */
static void recognise_vcpu(unsigned int passed, const struct block *b, uintptr_t env)
{
	uint64_t identity = vcpu_identity();
	int index;

	if (identity == b->translator)
		vcpu_learn(identity, passed);
	index = vcpu_index(identity);
	if (index < 0)
		die("a vCPU cannot be told from the others",
		    "the guest must run Linux with all its CPUs booted before the ROI");
	if (env == sim.env && (unsigned int)index != sim.vcpu)
		die("QEMU switched vCPUs unseen",
		    "this QEMU's generated code is not as expected; use QEMU 9.2 to 10.0");
	sim.vcpu = index;
	sim.env = env;
	sim.until_check = CHECK_INTERVAL;
}

__attribute__((used, visibility("hidden")))
void cachesim_block_executed(unsigned int passed, void *userdata, uintptr_t env)
{
	const struct block *b = userdata;

	if (__builtin_expect(env != sim.env || !--sim.until_check, 0))
		recognise_vcpu(passed, b, env);
	cachesim_execute(sim.model, sim.vcpu, b->mode, b->instructions, b->lines, b->n_lines);
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

/* The guest-physical access at vaddr, which lies in one page. */
static inline void access_page(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
			       unsigned int size, bool store)
{
	struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(info, vaddr);

	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	if (store)
		cachesim_store(sim.model, vcpu, qemu_plugin_hwaddr_phys_addr(hw), size);
	else
		cachesim_load(sim.model, vcpu, qemu_plugin_hwaddr_phys_addr(hw), size);
}

static inline void access_memory(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
				 bool store)
{
	unsigned int size = 1u << qemu_plugin_mem_size_shift(info);
	unsigned int here = GUEST_PAGE - (vaddr & (GUEST_PAGE - 1));

	if (__builtin_expect(size <= here, 1)) {
		access_page(vcpu, info, vaddr, size, store);
		return;
	}
	access_page(vcpu, info, vaddr, here, store);
	access_page(vcpu, info, vaddr + here, size - here, store);
}

/* An access belongs to the block that on_block() saw last. */
static void on_load(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(sim.vcpu, info, vaddr, false);
}

static void on_store(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
		     void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(sim.vcpu, info, vaddr, true);
}

/* A block for the instructions from `first` to, at most, `last`, which follow one another. */
static struct block *new_block(const struct qemu_plugin_insn *first,
			       const struct qemu_plugin_insn *last)
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
	b->mode = vaddr >= sim.options.idle_start && vaddr < sim.options.idle_end ? CACHESIM_IDLE :
		  vaddr >> 63 ? CACHESIM_KERNEL : CACHESIM_USER;
	b->translator = vcpu_identity();
	b->instructions = 0;
	b->n_lines = 0;
	b->next = sim.blocks;
	sim.blocks = b;
	return b;
}

static void add_line(struct block *b, uint64_t address)
{
	uint64_t line = address >> cachesim_fetch_shift(sim.model);

	if (!b->n_lines || b->lines[b->n_lines - 1] != line)
		b->lines[b->n_lines++] = line;
}

static void add_instruction(struct block *b, const struct qemu_plugin_insn *insn)
{
	uint64_t first = code_address(insn);
	size_t size = qemu_plugin_insn_size(insn);
	uint64_t in_page = first & (GUEST_PAGE - 1);

	b->instructions++;
	add_line(b, first);
	/* Its tail in another page comes with the next instruction: QEMU gives no address. */
	if (in_page + size <= GUEST_PAGE)
		add_line(b, first + size - 1);
}

/*
 * One callback per block: a translation block, or, where a marker stands in it,
 * the parts up to the marker and after it, so that counting starts and stops at
 * the marker itself.
 */
static void on_translate_inside(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *b = NULL;

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		enum marker marker = marker_of(insn);

		if (!b) {
			b = new_block(insn, qemu_plugin_tb_get_insn(tb, n - 1));
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_block,
							       QEMU_PLUGIN_CB_R_REGS, b);
		}
		add_instruction(b, insn);
		qemu_plugin_register_vcpu_mem_cb(insn, on_load, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_R, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, on_store, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
		if (sim.futexes)
			watch_futexes(insn);
		if (marker != MARKER_NONE) {
			watch_marker(insn, marker);
			b = NULL;
		}
	}
}

/* QEMU has dropped all translations, and with them every use of a block. */
static void on_flush(qemu_plugin_id_t id)
{
	(void)id;
	free_blocks();
}

static void on_qemu_exit(qemu_plugin_id_t id, void *userdata)
{
	(void)id;
	(void)userdata;
	if (sim.state != OUTSIDE)
		say("QEMU ends inside a region of interest: its document is not written");
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, sim.state == OUTSIDE ? on_translate_outside
								       : on_translate_inside);
	qemu_plugin_register_flush_cb(id, on_flush);
	qemu_plugin_register_atexit_cb(id, on_qemu_exit, NULL);
}

static void on_reset(qemu_plugin_id_t id)
{
	free_blocks();
	register_callbacks(id);
}

/* Runs in the thread that will run the vCPU. */
static void on_vcpu_init(qemu_plugin_id_t id, unsigned int vcpu)
{
	const char *missing;

	(void)id;
	(void)vcpu;
	if (sim.have_vcpu_thread && !pthread_equal(sim.vcpu_thread, pthread_self()))
		die("vCPUs run in several threads", "start QEMU with -accel tcg,thread=single");
	sim.vcpu_thread = pthread_self();
	if (sim.have_vcpu_thread)
		return;
	missing = registers_find();
	if (missing)
		die(missing, "this QEMU does not tell this register; use QEMU 9.2 to 10.0");
	sim.have_vcpu_thread = true;
}

static int check_qemu(const qemu_info_t *info, char *error, size_t size)
{
	if (info->version.cur < QEMU_PLUGIN_VERSION || info->version.min > QEMU_PLUGIN_VERSION) {
		snprintf(error, size, "built for version %d of QEMU's plugin API, but this QEMU has "
			 "%d to %d: use QEMU 9.2 or newer that still has version %d",
			 QEMU_PLUGIN_VERSION, info->version.min, info->version.cur,
			 QEMU_PLUGIN_VERSION);
		return -1;
	}
	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		snprintf(error, size, "works in qemu-system-x86_64 only, not in this %s%s",
			 info->target_name, info->system_emulation ? "" : " user emulation");
		return -1;
	}
	if (info->system.max_vcpus > (int)CACHESIM_MAX_CPUS) {
		snprintf(error, size, "%d vCPUs are too many: give QEMU -smp %u or less",
			 info->system.max_vcpus, CACHESIM_MAX_CPUS);
		return -1;
	}
	return 0;
}

static int start(const qemu_info_t *info, int argc, char **argv, char *error, size_t size)
{
	const char *why;

	if (check_qemu(info, error, size) ||
	    options_parse(&sim.options, argc, argv, error, size))
		return -1;
	sim.out = open(sim.options.out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (sim.out < 0) {
		snprintf(error, size, "cannot write %s: %s", sim.options.out, strerror(errno));
		return -1;
	}
	sim.model = cachesim_new(&sim.options.machine, info->system.smp_vcpus, &why);
	if (!sim.model) {
		snprintf(error, size, "machine %s with %d vCPUs: %s", sim.options.machine.name,
			 info->system.smp_vcpus, why);
		close(sim.out);
		return -1;
	}
	if (!sim.options.futexes)
		return 0;
	sim.futexes = futexes_new(sim.options.futexes);
	if (!sim.futexes) {
		snprintf(error, size, "out of memory");
		close(sim.out);
		return -1;
	}
	return 0;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	char error[512];

	if (start(info, argc, argv, error, sizeof(error))) {
		say(error);
		return -1;
	}
	sim.id = id;
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	register_callbacks(id);
	return 0;
}
