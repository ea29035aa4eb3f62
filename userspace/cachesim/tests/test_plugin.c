// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin under a stand-in for QEMU: this file defines the qemu_plugin_*
 * functions the plugin calls, translates a few blocks and executes them.
 */
#define _GNU_SOURCE	/* memmem */
#include "test_machine.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burner.h"
#include "qemu_plugin_api.h"
#include "registers.h"
#include "roi.h"

#define KERNEL 0xffffffff80000000ull
#define IDLE (KERNEL + 0x5000)
#define USER 0x400000ull
#define PER_CPU_OFFSET (KERNEL + 0x6000)
#define AHEAD 0x1f000	/* in `ram`: sched_clock_ahead[] of the kernel */
/* Functions of the kernel. */
#define IDLE_EXIT (KERNEL + 0x8000)
#define INTERRUPT (KERNEL + 0x8100)
#define WAKE (KERNEL + 0x9000)
#define NEW_TASK (KERNEL + 0x9100)
#define DEQUEUE (KERNEL + 0x9200)
#define SWITCH (KERNEL + 0x9300)
/* Tasks, of which only one can be read. */
#define TASK 0xffff888003000000ull
#define NO_TASK 0xffff888003004000ull
#define KERNEL_BASE 0xffff888000000000ull	/* CPU 0's GS base in the kernel */
/* Of each version its own: both tests may run at a time. */
#define TEXT(macro) TEXT_OF(macro)
#define TEXT_OF(token) #token
#define FILES "cachesim-plugin-" TEXT(QEMU_PLUGIN_VERSION) "-test"
#define OUT FILES ".jsonl"
#define MAP FILES ".map"
#define ATTRIBUTED FILES ".attributed"
#define ALLOCATORS FILES ".allocators"

/* One instruction of the guest, and what the plugin asked for on it. */
struct qemu_plugin_insn {
	uint64_t vaddr;
	size_t size;
	const uint8_t *bytes;
	enum { NOTHING, LOAD, STORE } access;
	uint64_t data;		/* virtual and physical address of the access */
	unsigned int parts;	/* 0: one access of 8 bytes; else accesses of 4 bytes in a row */
	struct {
		qemu_plugin_vcpu_udata_cb_t call;
		void *userdata;
	} exec[4];
	int n_exec;
	qemu_plugin_vcpu_mem_cb_t on_load, on_store;
	void *userdata;		/* of both */
};

struct qemu_plugin_tb {
	struct qemu_plugin_insn insn[8];
	size_t n;
	size_t faults;	/* its instruction of this number, from 1, always does */
};

struct qemu_plugin_hwaddr {
	uint64_t phys;
};

#if QEMU_PLUGIN_VERSION < 7
typedef qemu_plugin_simple_cb_t plugin_cb;
typedef qemu_plugin_vcpu_simple_cb_t plugin_vcpu_cb;
#else
typedef qemu_plugin_udata_cb_t plugin_cb;
typedef qemu_plugin_vcpu_udata_cb_t plugin_vcpu_cb;
#endif

/*
 * As QEMU from 10.0 on, the stand-in passes callbacks the index of the vCPU that
 * translated the code; only the registers tell the vCPU that runs.
 */
static struct {
	unsigned int running, translator;
	bool swapped;	/* a program runs: the kernel's GS base is set aside */
	bool no_kernel;	/* and none has set one */
	bool no_rdi;	/* an older QEMU */
	uint64_t rax, rdi, rsi, rdx, fs_base, cr3, rsp, rbp;
	plugin_vcpu_cb vcpu_init;
	qemu_plugin_vcpu_tb_trans_cb_t translate;
	plugin_cb flush, reset;
	qemu_plugin_udata_cb_t at_exit;
	bool io;
	unsigned int turns_ended;
	bool kicks;	/* it exports how a vCPU is kicked */
	unsigned int kicked;	/* how often all vCPUs were */
	int exits;	/* the vCPU that alone was told to leave; -1: none */
	unsigned int pages_asked;	/* how often it was asked where a page is */
	uint64_t moved;	/* by how much pages have moved in physical memory */
	bool no_time;	/* another plugin controls it */
	bool unreadable;	/* the guest's memory is */
	uint32_t state;	/* of the task */
	uint64_t clock;	/* instructions that were executed to their end */
	uintptr_t code;	/* where in the host each page of code is; 0: in `ram` */
} qemu;

static uint8_t ram[1 << 17];	/* guest physical memory from 0; user code lies 0x400000 above */

const void *qemu_plugin_request_time_control(void)
{
	return qemu.no_time ? NULL : &qemu;
}

void qemu_plugin_update_ns(const void *handle, int64_t time)
{
	assert_ptr_equal(handle, &qemu);
	assert_int_equal(time, 0);
	qemu.turns_ended++;
}

/* Where a vCPU's state begins; `env` (execute()) lies in it. */
#define CPU_STATE(vcpu) (0x10000ull * ((vcpu) + 1))
#define ENV(vcpu) (CPU_STATE(vcpu) + 0x2bc0)

struct qemu_cpu *qemu_get_cpu(int vcpu)
{
	return qemu.kicks ? (struct qemu_cpu *)(uintptr_t)CPU_STATE(vcpu) : NULL;
}

void qemu_cpu_kick(struct qemu_cpu *cpu)
{
	assert_int_equal((uintptr_t)cpu, CPU_STATE(qemu.running));
	qemu.kicked++;
}

void cpu_exit(struct qemu_cpu *cpu)
{
	qemu.exits = (uintptr_t)cpu / CPU_STATE(0) - 1;
}

#define ID 1	/* the plugin's */

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void *userdata)
{
	assert_int_equal(id, ID);
	assert_null(userdata);
	qemu.at_exit = cb;
}

/*
 * A function of QEMU that registers a callback, and the call of a callback: they depend on the
 * version.
 */
#if QEMU_PLUGIN_VERSION < 7
#define REGISTER(function, type, event)						\
	void qemu_plugin_##function(qemu_plugin_id_t id, type cb)		\
	{									\
		assert_int_equal(id, ID);					\
		qemu.event = cb;						\
	}
#define CALL(callback, ...) callback(ID, ##__VA_ARGS__)
#define CALL_AT_EXIT() qemu.at_exit(ID, NULL)
#else
#define REGISTER(function, type, event)						\
	void qemu_plugin_##function(qemu_plugin_id_t id, type cb, void *userdata)	\
	{									\
		assert_int_equal(id, ID);					\
		assert_null(userdata);						\
		qemu.event = cb;						\
	}
#define CALL(callback, ...) callback(__VA_ARGS__ __VA_OPT__(,) NULL)
#define CALL_AT_EXIT() qemu.at_exit(NULL)
#endif

REGISTER(reset, plugin_cb, reset)
REGISTER(register_vcpu_init_cb, plugin_vcpu_cb, vcpu_init)
REGISTER(register_flush_cb, plugin_cb, flush)
REGISTER(register_vcpu_tb_trans_cb, qemu_plugin_vcpu_tb_trans_cb_t, translate)

static void begin_vcpu(unsigned int vcpu)
{
	CALL(qemu.vcpu_init, vcpu);
}

static void end_qemu(void)
{
	CALL_AT_EXIT();
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata)
{
	(void)flags;
	insn->exec[insn->n_exec].call = cb;
	insn->exec[insn->n_exec++].userdata = userdata;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata)
{
	(void)flags;
	insn->userdata = userdata;
	if (rw == QEMU_PLUGIN_MEM_R)
		insn->on_load = cb;
	else
		insn->on_store = cb;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return tb->n;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
	return (struct qemu_plugin_insn *)&tb->insn[i];
}

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len)
{
	memcpy(dest, insn->bytes, len < insn->size ? len : insn->size);
	return len < insn->size ? len : insn->size;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->vaddr;
}

void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
	if (qemu.code)
		return (void *)(qemu.code + (insn->vaddr & 0xfff));
	return &ram[insn->vaddr & (sizeof(ram) - 1)];
}

/* What the next load brings. */
static uint64_t mem_value;

struct qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t info)
{
	(void)info;
	return (struct qemu_plugin_mem_value){ .data.u64 = mem_value };
}

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
	return info;
}

/* The page after the first lies elsewhere in physical memory. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	static struct qemu_plugin_hwaddr hw;

	(void)info;
	qemu.pages_asked++;
	hw.phys = (vaddr < 0x21000 ? vaddr : vaddr + 0x100000) + qemu.moved;
	return &hw;
}

bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *haddr)
{
	(void)haddr;
	return qemu.io;
}

uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *haddr)
{
	return haddr->phys;
}

struct glib_array *g_byte_array_new(void)
{
	static uint64_t bytes[64];
	static struct glib_array array = { .data = bytes };

	return &array;
}

void g_byte_array_unref(struct glib_array *array)
{
	(void)array;
}

/* Below it lies a program's stack: words that are their own addresses. */
#define STACK_END 0x7ffff000ull

/* Besides these, __per_cpu_offset is all that the plugin reads. */
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct glib_array *data, size_t len)
{
	uint64_t *bases = data->data;

	if (address == TASK + 24 && len == sizeof(qemu.state)) {
		memcpy(data->data, &qemu.state, len);
		return true;
	}
	if (address == NO_TASK + 24)
		return false;
	if (address < STACK_END) {
		for (uint64_t i = 0; i < len / sizeof(*bases); i++)
			bases[i] = address + i * sizeof(*bases);
		return address + len <= STACK_END;
	}
	assert_int_equal(address, PER_CPU_OFFSET);
	for (unsigned int cpu = 0; cpu < len / sizeof(*bases); cpu++)
		bases[cpu] = KERNEL_BASE + 0x1000 * cpu;
	return !qemu.unreadable;
}

/* As QEMU 11.1 has it. */
struct descriptor {
	qemu_plugin_reg_descriptor older;
#if QEMU_PLUGIN_VERSION >= 7
	bool is_readonly;
#endif
};

unsigned int g_array_get_element_size(struct glib_array *array)
{
	(void)array;
	return sizeof(struct descriptor);
}

/* A handle may be NULL. */
struct glib_array *qemu_plugin_get_registers(void)
{
	static struct descriptor registers[] = {
		{ .older = { (void *)0, "rax", "core" } },
		{ .older = { (void *)2, "gs_base", "core" } },
		{ .older = { (void *)3, "k_gs_base", "core" } },
		{ .older = { (void *)4, "fs_base", "core" } },
		{ .older = { (void *)5, "cr3", "core" } },
		{ .older = { (void *)6, "rsi", "core" } },
		{ .older = { (void *)7, "rdx", "core" } },
		{ .older = { (void *)9, "rsp", "core" } },
		{ .older = { (void *)10, "rbp", "core" } },
		{ .older = { (void *)8, "rdi", "core" } },
	};
	static struct glib_array array = { .data = registers };

	array.len = qemu.no_rdi ? 9 : 10;
	return &array;
}

void qemu_plugin_read_register(struct qemu_plugin_register *handle, struct glib_array *buf)
{
	uint64_t kernel_base = qemu.no_kernel ? 0x7000 : KERNEL_BASE + 0x1000 * qemu.running;
	const uint64_t values[] = {
		[0] = qemu.rax,
		[2] = qemu.swapped ? 0x7000 : kernel_base,
		[3] = qemu.swapped ? kernel_base : 0x7000,
		[4] = qemu.fs_base,
		[5] = qemu.cr3,
		[6] = qemu.rsi,
		[7] = qemu.rdx,
		[8] = qemu.rdi,
		[9] = qemu.rsp,
		[10] = qemu.rbp,
	};
	uint64_t value = values[(uintptr_t)handle];

	memcpy((uint8_t *)buf->data + buf->len, &value, sizeof(value));
	buf->len += sizeof(value);
}

/* Calls cb as generated code does, with the vCPU's state in the host register. */
void call_as_generated_code(qemu_plugin_vcpu_udata_cb_t cb, unsigned int vcpu, void *userdata,
			    uintptr_t env);
#ifdef __x86_64__
__asm__(".text\n"
	"call_as_generated_code:\n"
	"	push %rbp\n"
	"	mov %rcx, %rbp\n"
	"	mov %rdi, %rax\n"
	"	mov %esi, %edi\n"
	"	mov %rdx, %rsi\n"
	"	call *%rax\n"
	"	pop %rbp\n"
	"	ret\n");
#else
void call_as_generated_code(qemu_plugin_vcpu_udata_cb_t cb, unsigned int vcpu, void *userdata,
			    uintptr_t env)
{
	(void)env;
	cb(vcpu, userdata);
}
#endif

static const uint8_t nop[4] = { 0x0f, 0x1f, 0x40, 0x00 };

__attribute__((noinline)) static void clock_begins(void)
{
	ROI_MARK(ROI_CLOCK);
}

__attribute__((noinline)) static void warmup(void)
{
	ROI_MARK(ROI_WARMUP);
}

__attribute__((noinline)) static void begin(void)
{
	ROI_MARK(ROI_BEGIN);
}

__attribute__((noinline)) static void end(void)
{
	ROI_MARK(ROI_END);
}

/* The bytes that roi.h really assembles to, found in the code of a function above. */
static const uint8_t *marker_in(void (*function)(void))
{
	static const uint8_t opcode[] = { 0x0f, 0x1f, 0x84, 0x00 };
	const uint8_t *bytes = memmem((const void *)(uintptr_t)function, 128, opcode, 4);

	assert_non_null(bytes);
	return bytes;
}

static struct qemu_plugin_insn *add(struct qemu_plugin_tb *tb, uint64_t vaddr)
{
	struct qemu_plugin_insn *insn = &tb->insn[tb->n++];

	memset(insn, 0, sizeof(*insn));
	insn->vaddr = vaddr;
	insn->size = sizeof(nop);
	insn->bytes = nop;
	return insn;
}

static void add_marker(struct qemu_plugin_tb *tb, uint64_t vaddr, void (*function)(void))
{
	struct qemu_plugin_insn *insn = add(tb, vaddr);

	insn->size = 8;
	insn->bytes = marker_in(function);
}

static void add_access(struct qemu_plugin_tb *tb, uint64_t vaddr, bool store, uint64_t data)
{
	struct qemu_plugin_insn *insn = add(tb, vaddr);

	insn->access = store ? STORE : LOAD;
	insn->data = data;
}

static void translate(struct qemu_plugin_tb *tb, unsigned int vcpu)
{
	qemu.running = qemu.translator = vcpu;
	for (size_t i = 0; i < tb->n; i++) {
		tb->insn[i].n_exec = 0;
		tb->insn[i].on_load = tb->insn[i].on_store = NULL;
	}
	CALL(qemu.translate, tb);
}

static const uint8_t rdtsc[] = { 0x0f, 0x31 };
static const uint8_t spin_hint[] = { 0xf3, 0x90 };	/* PAUSE */

static void access_data(const struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t call)
{
	if (!call)
		return;
	if (!insn->parts)
		call(qemu.translator, 3, insn->data, insn->userdata);
	for (unsigned int i = 0; i < insn->parts; i++)
		call(qemu.translator, 2, insn->data + 4 * i, insn->userdata);
}

/* Execute a translated block on `vcpu`; then do what is pending, as QEMU does. */
static void execute(struct qemu_plugin_tb *tb, unsigned int vcpu)
{
	plugin_cb reset;

	qemu.running = vcpu;
	for (size_t i = 0; i < tb->n; i++) {
		struct qemu_plugin_insn *insn = &tb->insn[i];

		for (int k = 0; k < insn->n_exec; k++)
			call_as_generated_code(insn->exec[k].call, qemu.translator,
					       insn->exec[k].userdata, ENV(vcpu));
		if (tb->faults == i + 1)
			break;
		qemu.clock++;
		if (insn->bytes == rdtsc) {
			qemu.rax = (uint32_t)qemu.clock;
			qemu.rdx = qemu.clock >> 32;
		}
		if (insn->access != NOTHING)
			access_data(insn, insn->access == LOAD ? insn->on_load : insn->on_store);
	}
	reset = qemu.reset;
	qemu.reset = NULL;
	if (reset) {
		CALL(qemu.flush);
		CALL(reset);
	}
}

static void run(struct qemu_plugin_tb *tb, unsigned int vcpu)
{
	translate(tb, vcpu);
	execute(tb, vcpu);
}

static void run_marker(void (*function)(void))
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add_marker(&tb, USER, function);
	run(&tb, 0);
}

/* What a file holds; empties it. */
static void take(const char *name, char *text, size_t size)
{
	FILE *f = fopen(name, "r+");
	size_t n = fread(text, 1, size - 1, f);

	text[n] = '\0';
	assert_int_equal(ftruncate(fileno(f), 0), 0);
	fclose(f);
}

static const char *documents(void)
{
	static char text[1 << 16];

	take(OUT, text, sizeof(text));
	return text;
}

static const char *end_region(void)
{
	run_marker(end);
	return documents();
}

/* counter of a mode of the total: "total":{"user":{...counter...}}. */
static long total(const char *document, const char *mode, const char *counter)
{
	char key[64];
	const char *at = strstr(document, "\"total\":");

	assert_non_null(at);
	snprintf(key, sizeof(key), "\"%s\":{", mode);
	at = strstr(at, key);
	assert_non_null(at);
	snprintf(key, sizeof(key), "\"%s\":", counter);
	at = strstr(at, key);
	assert_non_null(at);
	return strtol(at + strlen(key), NULL, 10);
}

static qemu_info_t info_of_qemu(void)
{
	qemu_info_t info = {
		.target_name = "x86_64",
#if QEMU_PLUGIN_VERSION < 7
		.version = { .min = 2, .cur = 4 },
#else
		.version = { .min = 7, .cur = 7 },
#endif
		.system_emulation = true,
		.system = { .smp_vcpus = 3, .max_vcpus = 3 },
	};

	return info;
}

static const char *machine = "machine=" PRESETS "/rx4640.toml", *out = "out=" OUT, *option;
static qemu_info_t offered;
static int installed;

static void install(void)
{
	char *argv[] = { (char *)machine, "system_map=" MAP, (char *)out, (char *)option };

	installed = qemu_plugin_install(ID, &offered, option ? 4 : 3, argv);
}

/* A guest that has booted: the plugin knows where RAM begins, and its vCPUs. */
static void boot(void)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	offered = info_of_qemu();
	install();
	assert_int_equal(installed, 0);
	begin_vcpu(0);
	add(&tb, KERNEL);
	run(&tb, 0);
	run(&tb, 1);
}

static void start_clock(void)
{
	run_marker(clock_begins);
}

static void run_bytes(uint64_t vaddr, const uint8_t *bytes, size_t size, unsigned int vcpu)
{
	struct qemu_plugin_tb tb = { .n = 0 };
	struct qemu_plugin_insn *insn = add(&tb, vaddr);

	insn->bytes = bytes;
	insn->size = size;
	run(&tb, vcpu);
}

SET_UP
{
	boot();
	start_clock();
	return 0;
}

TEAR_DOWN
{
	end_qemu();
	return 0;
}

FIXTURE_TEST(nothing_is_instrumented_before_the_clock)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	end_qemu();
	boot();
	add(&tb, USER);
	add_access(&tb, USER + 4, true, 0x1000);
	run(&tb, 0);
	assert_int_equal(tb.insn[0].n_exec, 0);
	assert_int_equal(tb.insn[1].n_exec, 0);
	assert_null(tb.insn[1].on_load);
	assert_null(tb.insn[1].on_store);
	assert_string_equal(documents(), "");
}

FIXTURE_TEST(counting_starts_and_stops_at_the_markers)
{
	struct qemu_plugin_tb first = { .n = 0 }, last = { .n = 0 };
	const char *doc;

	run_marker(warmup);
	add_access(&first, USER, false, 0x1000);	/* warms the line, is not counted */
	add_marker(&first, USER + 4, begin);
	add_access(&first, USER + 12, false, 0x1000);
	run(&first, 0);
	add_access(&last, USER + 16, true, 0x2000);
	add_marker(&last, USER + 20, end);
	add_access(&last, USER + 28, false, 0x3000);
	run(&last, 0);
	doc = documents();
	/* one after begin, one before end, and the end marker */
	assert_int_equal(total(doc, "user", "instructions"), 3);
	assert_int_equal(total(doc, "user", "l1d_references"), 2);
	assert_int_equal(total(doc, "user", "l1d_misses"), 1);
	assert_int_equal(total(doc, "user", "l1i_references"), 2);
	assert_int_equal(total(doc, "user", "l1i_misses"), 0);
	assert_int_equal(total(doc, "kernel", "instructions"), 0);
}

static void roi_once(void)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	run_marker(begin);
	add_access(&tb, USER + 60, true, 0x1000);	/* 60 .. 63 */
	add(&tb, USER + 64);				/* the next line */
	run(&tb, 1);
	run_marker(end);
}

FIXTURE_TEST(every_roi_is_one_line_and_starts_where_the_last_left_off)
{
	const char *doc, *second;

	roi_once();
	roi_once();
	doc = documents();
	second = strchr(doc, '\n') + 1;
	assert_string_equal(strchr(second, '\n'), "\n");
	assert_int_equal(total(doc, "user", "l1i_references"), 3);	/* with the end marker's */
	assert_int_equal(total(doc, "user", "l3_misses"), 2);
	assert_int_equal(total(second, "user", "l1i_references"), 3);
	assert_int_equal(total(second, "user", "l3_misses"), 0);
}

/* Time goes on, so does the model; but nothing of it is in a later region. */
FIXTURE_TEST(nothing_is_counted_after_the_end)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	roi_once();
	documents();
	add_access(&tb, USER, true, 0x1000);
	run(&tb, 0);
	assert_non_null(tb.insn[0].on_store);
	run_marker(begin);
	assert_int_equal(total(end_region(), "user", "instructions"), 1);
}

/* The cycles from the instruction after the begin marker to the end marker. */
static long elapsed(const char *document)
{
	const char *key = "\"elapsed_cycles\":";

	return strtol(strstr(document, key) + strlen(key), NULL, 10);
}

FIXTURE_TEST(a_region_takes_as_long_as_its_stalls)
{
	struct qemu_plugin_tb warm = { .n = 0 }, cold = { .n = 0 };

	add_access(&warm, USER, false, 0x1000);
	run(&warm, 0);
	run_marker(begin);
	run(&warm, 0);
	assert_int_equal(elapsed(end_region()), 2);
	run_marker(begin);
	add_access(&cold, USER, false, 0x5000);
	run(&cold, 0);
	/* L2, L3 and memory of the rx4640 */
	assert_int_equal(elapsed(end_region()), 2 + 4 + 10 + 208);
}

/* Which of three lines of a page are in the L1D tells where the plugin takes the page to be. */
static void load_of(unsigned int vcpu, uint64_t data, bool store)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add_access(&tb, USER, store, data);
	run(&tb, vcpu);
}

static unsigned int asked_for(unsigned int vcpu, uint64_t data, bool store)
{
	unsigned int before = qemu.pages_asked;

	load_of(vcpu, data, store);
	return qemu.pages_asked - before;
}

FIXTURE_TEST(a_page_is_looked_for_once)
{
	assert_int_equal(asked_for(0, 0x1000, false), 1);
	assert_int_equal(asked_for(0, 0x1ff8, false), 0);
	assert_int_equal(asked_for(0, 0x1000, true), 1);
	assert_int_equal(asked_for(0, 0x1000, false), 0);
	assert_int_equal(asked_for(0, 0x2000, true), 1);
	assert_int_equal(asked_for(1, 0x1000, false), 1);
	assert_int_equal(asked_for(1, 0x1000, false), 0);
	/* Another page at its place. */
	assert_int_equal(asked_for(1, 0x1000 + 128 * 0x1000, false), 1);
	assert_int_equal(asked_for(1, 0x1000, false), 1);
}

FIXTURE_TEST(a_cpu_forgets_its_pages_as_its_tlb_does)
{
	static const struct {
		size_t size;
		uint8_t bytes[6];
		bool forgets;
	} all[] = {
		{ 3, { 0x0f, 0x22, 0xd8 }, true },	/* mov %rax,%cr3 */
		{ 4, { 0x41, 0x0f, 0x22, 0xe0 }, true },	/* mov %r8,%cr4 */
		{ 3, { 0x0f, 0x01, 0x38 }, true },	/* invlpg (%rax) */
		{ 4, { 0x41, 0x0f, 0x01, 0x39 }, true },	/* invlpg (%r9) */
		{ 5, { 0x66, 0x0f, 0x38, 0x82, 0x01 }, true },	/* invpcid (%rcx),%rax */
		{ 3, { 0x0f, 0x20, 0xd8 }, false },	/* mov %cr3,%rax */
		{ 3, { 0x0f, 0x01, 0xf8 }, false },	/* swapgs */
		{ 3, { 0x0f, 0x01, 0x18 }, false },	/* lidt (%rax) */
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		load_of(0, 0x1000, false);
		load_of(1, 0x1000, false);
		run_bytes(KERNEL + 0x100, all[i].bytes, all[i].size, 0);
		assert_int_equal(asked_for(0, 0x1000, false), all[i].forgets);
		assert_int_equal(asked_for(1, 0x1000, false), 0);
	}
}

FIXTURE_TEST(a_page_that_has_moved_is_another_line)
{
	static const uint8_t load_cr3[] = { 0x0f, 0x22, 0xd8 };

	load_of(0, 0x1000, false);
	qemu.moved = 0x10000;
	run_bytes(KERNEL + 0x100, load_cr3, sizeof(load_cr3), 0);
	run_marker(begin);
	load_of(0, 0x1000, false);
	qemu.moved = 0;
	assert_int_equal(total(end_region(), "user", "l3_misses"), 1);
}

static void run_burner(void)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add(&tb, KERNEL + BURNER_PAGE);
	run(&tb, 2);
}

FIXTURE_TEST(a_turn_ends_once_when_the_quantum_does)
{
	struct qemu_plugin_tb tb = { .n = 0 }, other = { .n = 0 };

	/* In the cache. */
	for (int i = 0; i < 8; i++)
		add(&tb, USER + 4 * i);
	translate(&tb, 0);
	execute(&tb, 0);
	qemu.turns_ended = 0;
	for (int i = 0; i < 2000 / 8 - 40; i++)
		execute(&tb, 0);
	assert_int_equal(qemu.turns_ended, 0);
	for (int i = 0; i < 80; i++)
		execute(&tb, 0);
	assert_int_equal(qemu.turns_ended, 1);
	/* The burner waits for the other CPU. */
	run_burner();
	assert_int_equal(qemu.turns_ended, 2);
	add(&other, USER);
	translate(&other, 1);
	for (int i = 0; i < 2000; i++)
		execute(&other, 1);
	assert_int_equal(qemu.turns_ended, 3);
}

#if QEMU_PLUGIN_VERSION == 4
FIXTURE_TEST(a_kick_ends_a_turn_where_qemu_has_it)
{
	struct qemu_plugin_tb tb = { .n = 0 }, other = { .n = 0 };

	end_qemu();
	qemu.kicks = true;
	qemu.kicked = qemu.turns_ended = 0;
	qemu.exits = -1;
	boot();
	start_clock();
	for (int i = 0; i < 8; i++)
		add(&tb, USER + 4 * i);
	translate(&tb, 1);
	for (int i = 0; i < 2000 / 8 + 40; i++)
		execute(&tb, 1);
	assert_int_equal(qemu.kicked, 1);
	assert_int_equal(qemu.exits, -1);
	/* The vCPU that has left its turn is told once more, when the next one has its. */
	add(&other, USER);
	run(&other, 0);
	assert_int_equal(qemu.exits, 1);
	qemu.exits = -1;
	run(&other, 1);
	assert_int_equal(qemu.exits, -1);
	assert_int_equal(qemu.kicked, 2);
	assert_int_equal(qemu.turns_ended, 0);
	qemu.kicks = false;
}

FIXTURE_TEST(a_newer_qemu_is_not_kicked)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	end_qemu();
	qemu.kicks = true;
	qemu.kicked = qemu.turns_ended = 0;
	offered = info_of_qemu();
	offered.version.cur = 5;
	install();
	begin_vcpu(0);
	add(&tb, KERNEL);
	run(&tb, 0);
	start_clock();
	for (int i = 0; i < 2000 + 4000; i++)
		execute(&tb, 0);
	qemu.kicks = false;
	assert_int_equal(qemu.kicked, 0);
}
#endif

FIXTURE_TEST(pause_takes_what_the_machine_says)
{
	const char *doc;

	run_bytes(USER, spin_hint, sizeof(spin_hint), 0);	/* into the cache */
	run_marker(begin);
	run_bytes(USER, spin_hint, sizeof(spin_hint), 0);
	run_bytes(USER, spin_hint, sizeof(spin_hint), 0);
	/* With both markers; rx4640.toml's PAUSE takes 10. */
	doc = end_region();
	assert_int_equal(total(doc, "user", "cycles"), 3 + 2 * 10);
	assert_int_equal(elapsed(doc), 3 + 2 * 10);
}

/* An idle CPU polls. */
FIXTURE_TEST(pause_takes_nothing_in_the_idle_loop)
{
	const char *doc;

	run_bytes(IDLE, spin_hint, sizeof(spin_hint), 1);	/* into the cache */
	run_marker(begin);
	run_bytes(IDLE, spin_hint, sizeof(spin_hint), 1);
	doc = end_region();
	assert_int_equal(total(doc, "idle", "cycles"), 1);
}

/* An instruction of these bytes. */
static void add_bytes(struct qemu_plugin_tb *tb, uint64_t vaddr, const uint8_t *bytes, size_t size)
{
	struct qemu_plugin_insn *insn = add(tb, vaddr);

	insn->bytes = bytes;
	insn->size = size;
}

FIXTURE_TEST(an_idle_cpu_waits_for_the_end_of_the_quantum)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add(&tb, IDLE);
	run_marker(begin);
	run(&tb, 0);
	assert_in_range(elapsed(end_region()), 1000, 2100);
}

/* The guest sits out there what it was charged, by looking at the time. */
FIXTURE_TEST(a_wait_in_the_idle_loop_does_not)
{
	struct qemu_plugin_tb wait = { .n = 0 }, rest = { .n = 0 };

	add(&wait, IDLE);
	add_bytes(&wait, IDLE + 4, rdtsc, sizeof(rdtsc));
	add(&rest, IDLE + 6);
	run_marker(begin);
	run(&wait, 0);
	run(&rest, 0);
	assert_in_range(elapsed(end_region()), 1, 999);
}

/* The CPUs wait for the end of the quantum, and the burner executes what is left of it. */
static void end_quantum(void)
{
	struct qemu_plugin_tb burner = { .n = 0 }, idle = { .n = 0 };
	unsigned int ended;

	add(&idle, IDLE);
	run(&idle, 0);
	run(&idle, 1);
	add(&burner, KERNEL + BURNER_PAGE);
	translate(&burner, 2);
	ended = qemu.turns_ended;
	for (int i = 0; i < 10000 && qemu.turns_ended == ended; i++)
		execute(&burner, 2);
	assert_int_equal(qemu.turns_ended, ended + 1);
}

/* Instructions of two CPUs and the burner in n quanta of 2,000 cycles. */
#define IN_QUANTA(n) ((n) * 3 * 2000)

/* The clock begins and is read, by which the plugin knows where it stood. */
static uint64_t start_known_clock(void)
{
	uint64_t begun;

	/* Both halves of the reading count. */
	qemu.clock = 5ull << 32;
	end_qemu();
	boot();
	start_clock();
	begun = qemu.clock;
	run_bytes(USER, rdtsc, sizeof(rdtsc), 0);
	end_quantum();
	assert_int_equal(qemu.clock - begun, IN_QUANTA(1));
	return begun;
}

FIXTURE_TEST(the_guests_clock_corrects_the_count)
{
	uint64_t begun = start_known_clock();
	struct qemu_plugin_tb tb = { .faults = 3 };

	for (uint64_t i = 0; i < 8; i++)
		add(&tb, USER + 4 * i);
	run(&tb, 0);
	end_quantum();
	/* The block was counted as a whole: six instructions were not executed. */
	assert_int_equal(qemu.clock - begun, IN_QUANTA(2) - 6);
	run_bytes(USER, rdtsc, sizeof(rdtsc), 0);
	end_quantum();
	assert_int_equal(qemu.clock - begun, IN_QUANTA(3));
}

/* Two CPUs and the burner: three instructions in a cycle. */
FIXTURE_TEST(the_scheduler_knows_the_time_within_a_turn)
{
	struct qemu_plugin_tb tb = { .n = 0 };
	int64_t ahead[2];

	start_known_clock();
	for (uint64_t i = 0; i < 8; i++)
		add(&tb, USER + 4 * i);
	run(&tb, 0);	/* into the caches */
	execute(&tb, 1);
	run_bytes(USER, rdtsc, sizeof(rdtsc), 1);
	end_quantum();
	for (int i = 0; i < 10; i++)
		execute(&tb, 0);
	run_bytes(USER, rdtsc, sizeof(rdtsc), 0);
	execute(&tb, 1);
	run_bytes(USER, rdtsc, sizeof(rdtsc), 1);
	memcpy(ahead, ram + AHEAD, sizeof(ahead));
	/* From the quantum's begin it is 81 cycles, and 81 instructions have been executed. */
	assert_in_range(ahead[0], 2 * 81, 2 * 81 + 3 * 20);
	/* The other CPU's turn comes after it, in the same quantum. */
	assert_true(ahead[1] < ahead[0]);
}

/* What the registers hold before the instruction is no reading. */
FIXTURE_TEST(only_what_rdtsc_has_left_is_a_reading)
{
	uint64_t begun = start_known_clock();
	struct qemu_plugin_tb split = { .n = 0 }, left = { .faults = 1 };

	add(&split, USER);
	add_marker(&split, USER + 4, begin);
	add(&split, USER + 12);
	add_bytes(&split, USER + 16, rdtsc, sizeof(rdtsc));
	qemu.rax = qemu.rdx = 1;
	run(&split, 0);
	end_quantum();
	assert_int_equal(qemu.clock - begun, IN_QUANTA(2));
	/* The two that were counted are missing until the next reading, and that is all. */
	add_access(&left, USER, false, 0x1000);
	add_bytes(&left, USER + 4, rdtsc, sizeof(rdtsc));
	qemu.rax = qemu.rdx = 1;
	run(&left, 0);
	end_quantum();
	assert_int_equal(qemu.clock - begun, IN_QUANTA(3) - 2);
	left.faults = 0;
	execute(&left, 0);
	end_quantum();
	assert_int_equal(qemu.clock - begun, IN_QUANTA(4));
}

FIXTURE_TEST(a_region_that_ends_before_it_began_takes_no_time)
{
	struct qemu_plugin_tb ahead = { .n = 0 }, last = { .n = 0 };

	add_access(&ahead, USER, false, 0x5000);
	run(&ahead, 0);
	run_marker(begin);
	/* Where the other CPU has executed less. */
	add_marker(&last, USER, end);
	run(&last, 1);
	assert_int_equal(elapsed(documents()), 0);
}

static long charge_at(uint64_t function)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add(&tb, function);
	run(&tb, 0);	/* into the cache */
	run_marker(begin);
	run(&tb, 0);
	/* without this instruction and the end marker */
	return elapsed(end_region()) - 2;
}

FIXTURE_TEST(interrupts_take_time)
{
	/* rx4640.toml's */
	assert_int_equal(charge_at(INTERRUPT), 1300);
}

FIXTURE_TEST(waking_up_takes_time)
{
	assert_int_equal(charge_at(IDLE_EXIT), 2600);
}

FIXTURE_TEST(the_burner_is_not_in_the_model)
{
	long before, after;

	roi_once();
	before = total(documents(), "user", "instructions");
	run_marker(begin);
	run_burner();
	after = total(end_region(), "user", "instructions") + 2;
	assert_int_equal(after, before);
}

FIXTURE_TEST(an_empty_roi_in_one_block_is_written_too)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add_marker(&tb, USER, begin);
	add_marker(&tb, USER + 8, end);
	run(&tb, 0);
	/* the end marker */
	assert_int_equal(total(documents(), "user", "instructions"), 1);
}

FIXTURE_TEST(modes_follow_the_address)
{
	struct qemu_plugin_tb kernel = { .n = 0 }, idle = { .n = 0 }, after = { .n = 0 };
	const char *doc;

	run_marker(begin);
	add(&kernel, IDLE - 4);
	add_access(&idle, IDLE, false, 0x1000);
	add(&idle, IDLE + 4);
	add(&after, IDLE + 0x100);
	run(&kernel, 0);
	run(&idle, 0);
	run(&after, 0);
	doc = end_region();
	assert_int_equal(total(doc, "kernel", "instructions"), 2);
	assert_int_equal(total(doc, "idle", "instructions"), 2);
	assert_int_equal(total(doc, "idle", "l1d_references"), 1);
	assert_int_equal(total(doc, "user", "instructions"), 1);
}

/* The kernel's and a program's view of one physical line are one line. */
FIXTURE_TEST(code_is_physically_addressed)
{
	struct qemu_plugin_tb kernel = { .n = 0 }, user = { .n = 0 };
	const char *doc;

	run_marker(begin);
	add(&kernel, KERNEL + 0x7000);
	add(&user, USER + 0x7000);
	run(&kernel, 0);
	run(&user, 0);
	doc = end_region();
	assert_int_equal(total(doc, "kernel", "l1i_misses"), 1);
	assert_int_equal(total(doc, "user", "l1i_misses"), 0);
}

/* L1I lines that a block of one instruction enters. */
static long entered(uint64_t vaddr)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add(&tb, vaddr);
	run_marker(begin);
	run(&tb, 0);
	/* without the end marker's */
	return total(end_region(), "user", "l1i_references") - 1;
}

FIXTURE_TEST(an_instruction_across_lines_enters_both)
{
	assert_int_equal(entered(USER + 60), 1);
	assert_int_equal(entered(USER + 61), 2);
	/* But not where the second is another page's, which may lie anywhere. */
	assert_int_equal(entered(USER + 0xfff), 1);
}

static long misses_of_code_at(uintptr_t one, uintptr_t other)
{
	const uintptr_t places[] = { one, other };

	run_marker(begin);
	for (int i = 0; i < 2; i++) {
		struct qemu_plugin_tb tb = { .n = 0 };

		qemu.code = (uintptr_t)ram + places[i];
		add(&tb, 0xfffff000);
		run(&tb, 0);
		qemu.code = 0;
	}
	return total(end_region(), "user", "l1i_misses");
}

/* RAM ends at 3 GiB. Where in the host other code is differs from run to run. */
FIXTURE_TEST(code_outside_ram_is_known_by_its_virtual_address)
{
	run_marker(warmup);
	assert_int_equal(misses_of_code_at(1ul << 30, (3ul << 30) - 0x1000), 2);
	assert_int_equal(misses_of_code_at(3ul << 30, 5ul << 30), 1);
}

FIXTURE_TEST(an_access_across_pages_goes_to_both)
{
	struct qemu_plugin_tb tb = { .n = 0 }, second = { .n = 0 };
	const char *doc;

	run_marker(begin);
	add_access(&tb, USER, false, 0x20ffc);
	run(&tb, 0);
	add_access(&second, USER, false, 0x21000);	/* the tail's physical line */
	run(&second, 0);
	doc = end_region();
	assert_int_equal(total(doc, "user", "l1d_references"), 3);
	assert_int_equal(total(doc, "user", "l1d_misses"), 2);
}

/* An instruction of these bytes that accesses 48 bytes, in parts of 4. */
static void add_state(struct qemu_plugin_tb *tb, uint64_t vaddr, const uint8_t *bytes, size_t size,
		      bool store)
{
	struct qemu_plugin_insn *insn;

	add_access(tb, vaddr, store, 0x4000);
	insn = &tb->insn[tb->n - 1];
	insn->bytes = bytes;
	insn->size = size;
	insn->parts = 12;
}

static long references_of(const uint8_t *bytes, size_t size, bool store)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	run_marker(begin);
	add_state(&tb, KERNEL + 0x200, bytes, size, store);
	run(&tb, 0);
	return total(end_region(), "kernel", "l1d_references");
}

FIXTURE_TEST(state_is_moved_in_pieces_of_16_bytes)
{
	static const struct {
		uint8_t bytes[4];
		size_t size;
		bool store;
		long references;
	} cases[] = {
		{ { 0x48, 0x0f, 0xae, 0x27 }, 4, true, 3 },	/* xsave64 (%rdi) */
		{ { 0x0f, 0xae, 0x2f }, 3, false, 3 },		/* xrstor (%rdi) */
		{ { 0x0f, 0xae, 0x37 }, 3, true, 3 },		/* xsaveopt (%rdi) */
		{ { 0x0f, 0xae, 0x07 }, 3, true, 3 },		/* fxsave (%rdi) */
		{ { 0x48, 0x0f, 0xae, 0x0f }, 4, false, 3 },	/* fxrstor64 (%rdi) */
		{ { 0x0f, 0xc7, 0x1f }, 3, false, 3 },		/* xrstors (%rdi) */
		{ { 0x0f, 0xc7, 0x27 }, 3, true, 3 },		/* xsavec (%rdi) */
		{ { 0x48, 0x0f, 0xc7, 0x2f }, 4, true, 3 },	/* xsaves64 (%rdi) */
		/* Their neighbours. */
		{ { 0x0f, 0xae, 0x1f }, 3, true, 12 },		/* stmxcsr (%rdi) */
		{ { 0x0f, 0xae, 0x3f }, 3, true, 12 },		/* clflush (%rdi) */
		{ { 0x0f, 0xc7, 0x0f }, 3, true, 12 },		/* cmpxchg8b (%rdi) */
		{ { 0x0f, 0xae, 0xe8 }, 3, true, 12 },		/* lfence */
		{ { 0x66, 0x0f, 0xae, 0x37 }, 4, true, 12 },	/* clwb (%rdi) */
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		long found = references_of(cases[i].bytes, cases[i].size, cases[i].store);

		if (found != cases[i].references)
			fail_msg("case %zu: %ld references", i, found);
	}
}

FIXTURE_TEST(io_is_no_memory)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	run_marker(begin);
	qemu.io = true;
	add_access(&tb, USER, false, 0x1000);
	run(&tb, 0);
	qemu.io = false;
	assert_int_equal(total(end_region(), "user", "l1d_references"), 0);
}

/* The instructions in a mode of one vCPU. */
static long per_cpu(const char *document, unsigned int vcpu, const char *mode)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "{\"cpu\":%u,", vcpu);
	at = strstr(document, key);
	assert_non_null(at);
	snprintf(key, sizeof(key), "\"%s\":{\"instructions\":", mode);
	at = strstr(at, key);
	assert_non_null(at);
	return strtol(at + strlen(key), NULL, 10);
}

FIXTURE_TEST(shared_translations_count_for_the_vcpu_that_runs)
{
	struct qemu_plugin_tb tb = { .n = 0 };
	const char *doc;

	run_marker(begin);
	add_access(&tb, KERNEL, true, 0x1000);
	add(&tb, KERNEL + 4);
	translate(&tb, 0);
	execute(&tb, 0);
	execute(&tb, 1);
	qemu.swapped = true;	/* as in a program */
	execute(&tb, 1);
	execute(&tb, 0);
	execute(&tb, 1);
	qemu.swapped = false;
	doc = end_region();
	assert_int_equal(per_cpu(doc, 0, "kernel"), 4);
	assert_int_equal(per_cpu(doc, 1, "kernel"), 6);
	/* the line went from 0 to 1, back and forth again */
	assert_int_equal(total(doc, "kernel", "cache_to_cache"), 3);
}

/* A thread of an address space makes a futex call. */
static void call_futex(uint64_t space, uint64_t thread, uint64_t address)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };

	qemu.swapped = true;
	qemu.cr3 = space | 0x7;
	qemu.fs_base = thread;
	qemu.rax = 202;
	qemu.rdi = address;
	qemu.rsi = 129;		/* FUTEX_WAKE_PRIVATE */
	qemu.rdx = 1;
	run_bytes(USER, syscall, sizeof(syscall), 0);
	qemu.swapped = false;
}

/* On another vCPU an interrupt of the kernel ends or, to_program, the kernel returns to one. */
static void return_from_kernel(uint64_t space, uint64_t thread, uint64_t result, bool to_program)
{
	static const uint8_t sysretq[] = { 0x48, 0x0f, 0x07 }, iretq[] = { 0x48, 0xcf };

	qemu.swapped = to_program;
	qemu.cr3 = space;
	qemu.fs_base = thread;
	qemu.rax = result;
	if (to_program && thread % 2)
		run_bytes(KERNEL, sysretq, sizeof(sysretq), 1);
	else
		run_bytes(KERNEL, iretq, sizeof(iretq), 1);
	qemu.swapped = false;
}

static void some_futex_calls(void)
{
	call_futex(0x2000, 1, 0x404040);
	return_from_kernel(0x2000, 1, 1, false);
	return_from_kernel(0x2000, 2, 1, true);
	return_from_kernel(0x2000, 1, 0, true);
	call_futex(0x2000, 2, 0x404040);
	return_from_kernel(0x2000, 2, 1, true);
}

/* The thread waits for a mutex, on the other vCPU. */
static void wait_for_lock(uint64_t space, uint64_t thread, uint64_t address)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };

	qemu.swapped = true;
	qemu.cr3 = space | 0x7;
	qemu.fs_base = thread;
	qemu.rax = 202;
	qemu.rdi = address;
	qemu.rsi = 128;		/* FUTEX_WAIT_PRIVATE */
	qemu.rdx = 2;
	run_bytes(USER, syscall, sizeof(syscall), 1);
	qemu.swapped = false;
}

/* The kernel calls a function. */
static void step(uint64_t function, unsigned int vcpu, uint64_t rdi, uint64_t rsi, uint64_t rdx)
{
	qemu.rdi = rdi;
	qemu.rsi = rsi;
	qemu.rdx = rdx;
	run_bytes(function, nop, sizeof(nop), vcpu);
}

static void pass_time(unsigned int vcpu)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	for (uint64_t i = 0; i < 8; i++)
		add(&tb, USER + 4 * i);
	translate(&tb, vcpu);
	for (int i = 0; i < 1000; i++)
		execute(&tb, vcpu);
}

/* A number of the document's latencies, by what stands before it; -1: null. */
static long latency(const char *document, const char *of, const char *number)
{
	const char *at = strstr(document, "\"latencies\":");

	assert_non_null(at);
	at = strstr(at, of);
	assert_non_null(at);
	at = strstr(at, number);
	assert_non_null(at);
	at += strlen(number);
	return *at == 'n' ? -1 : strtol(at, NULL, 10);
}

FIXTURE_TEST(a_hand_off_is_timed)
{
	const char *doc;

	qemu.cr3 = 0x2000;
	run_marker(begin);
	wait_for_lock(0x2000, 1, 0x404040);
	call_futex(0x2000, 2, 0x404040);
	return_from_kernel(0x2000, 2, 1, true);
	/* Its own clock goes on while it waits. */
	pass_time(0);
	pass_time(1);
	return_from_kernel(0x2000, 1, 0, true);
	/* Another program's. */
	wait_for_lock(0x3000, 1, 0x404040);
	call_futex(0x3000, 2, 0x404040);
	return_from_kernel(0x3000, 1, 0, true);
	qemu.cr3 = 0x2000;
	doc = end_region();
	assert_int_equal(latency(doc, "\"handoff\":", "\"count\":"), 1);
	assert_in_range(latency(doc, "\"handoff\":", "\"max_ns\":"), 3000, 20000);
	assert_int_equal(latency(doc, "\"wakeup\":", "\"count\":"), 0);
	assert_int_equal(latency(doc, "\"wakeup\":", "\"mean_ns\":"), -1);
}

FIXTURE_TEST(a_wake_up_is_timed)
{
	const char *doc;

	qemu.state = 1;
	qemu.cr3 = 0x2000;
	run_marker(begin);
	step(NEW_TASK, 0, TASK, 0, 0);
	step(DEQUEUE, 0, 0, TASK, 0x9);
	step(SWITCH, 0, TASK, NO_TASK, 0);
	step(WAKE, 0, TASK, 3, 0);
	pass_time(0);
	/* It is not to be woken of what it does: nothing begins anew. */
	step(WAKE, 0, TASK, 2, 0);
	step(SWITCH, 0, NO_TASK, TASK, 0);
	return_from_kernel(0x2000, 1, 0, true);	/* on the other vCPU */
	qemu.swapped = true;
	run_bytes(KERNEL, (const uint8_t[]){ 0x48, 0xcf }, 2, 0);
	qemu.swapped = false;
	/* It does not sleep this time, and is woken before it leaves. */
	step(DEQUEUE, 0, 0, TASK, 0x8);
	step(WAKE, 0, TASK, 3, 0);
	step(SWITCH, 0, TASK, NO_TASK, 0);
	step(SWITCH, 0, NO_TASK, TASK, 0);
	doc = end_region();
	assert_int_equal(latency(doc, "\"wakeup\":", "\"count\":"), 1);
	assert_in_range(latency(doc, "\"wakeup\":", "\"max_ns\":"), 3000, 20000);
	assert_int_equal(latency(doc, "\"handoff\":", "\"count\":"), 0);
}

static void wake_what_is_no_task(void)
{
	run_marker(begin);
	step(WAKE, 0, NO_TASK, 3, 0);
}

FIXTURE_TEST(futexes_are_not_looked_at_unasked)
{
	run_marker(begin);
	some_futex_calls();
	assert_null(strstr(end_region(), "futexes"));
}

/* Run f with stderr in a file; what it said. */
static const char *said(void (*f)(void))
{
	static char text[2048];
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	f();
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

static void end_alone(void)
{
	run_marker(end);
}

static void exit_inside(void)
{
	run_marker(begin);
	end_qemu();
	boot();
}

FIXTURE_TEST(stray_markers_and_early_exits_are_told)
{
	assert_non_null(strstr(said(end_alone), "end marker without a begin marker"));
	assert_string_equal(documents(), "");
	assert_non_null(strstr(said(exit_inside), "ends inside a region of interest"));
	documents();
}

/* And leaves no file. */
static void assert_refused(qemu_info_t info, const char *why)
{
	const char *text;

	unlink(OUT);
	offered = info;
	text = said(install);
	assert_int_equal(installed, -1);
	if (!strstr(text, why))
		fail_msg("\"%s\" does not say \"%s\"", text, why);
	assert_int_equal(access(OUT, F_OK), -1);
}

TEST(what_does_not_fit_is_refused)
{
	qemu_info_t info = info_of_qemu();

	info.version.min = 2;
	info.version.cur = 3;
	assert_refused(info, " of QEMU's plugin API, but this QEMU has 2 to 3: use QEMU 9.2 to 11.1");
	info.version.min = info.version.cur = 8;
	assert_refused(info, "but this QEMU has 8 to 8");
	info = info_of_qemu();
	info.system_emulation = false;
	assert_refused(info, "not in this x86_64 user emulation");
	info = info_of_qemu();
	info.target_name = "aarch64";
	assert_refused(info, "not in this aarch64");
	info = info_of_qemu();
	info.system.smp_vcpus = 66;
	assert_refused(info, "66 vCPUs: give QEMU one more than the guest's CPUs, which are 1 to 64");
	info.system.smp_vcpus = 1;
	assert_refused(info, "1 vCPUs: give QEMU one more");
	qemu.no_time = true;
	assert_refused(info_of_qemu(), "another plugin controls the time");
	qemu.no_time = false;
	out = "out=/nonexistent/file";
	assert_refused(info_of_qemu(), "cannot write /nonexistent/file: No such file or directory");
	out = "oot=x";
	assert_refused(info_of_qemu(), "argument \"oot=x\" is unknown");
	out = "out=" OUT;
}

static void install_with_attribution(void)
{
	char *argv[] = { (char *)machine, "system_map=" MAP, (char *)out, "futexes=own",
			 (char *)option, "allocators=" ALLOCATORS };

	installed = qemu_plugin_install(ID, &offered, 6, argv);
}

static void assert_attribution_refused(const char *attribute, const char *why)
{
	offered = info_of_qemu();
	option = attribute;
	if (!strstr(said(install_with_attribution), why))
		fail_msg("with %s it does not say \"%s\"", attribute, why);
	assert_int_equal(installed, -1);
	option = NULL;
	assert_int_equal(access(OUT, F_OK), -1);
	assert_int_equal(access(ATTRIBUTED, F_OK), -1);
}

TEST(what_cannot_be_attributed_is_refused)
{
	unlink(OUT);
	assert_attribution_refused("attribute=" ATTRIBUTED, ALLOCATORS ": No such file or directory");
	fclose(fopen(ALLOCATORS, "w"));
	assert_attribution_refused("attribute=/nonexistent/file",
				   "cannot write /nonexistent/file: No such file or directory");
	assert_int_equal(unlink(ALLOCATORS), 0);
}

/* Install with the machine rx4640 but for one line of its file. */
static void assert_machine_refused(const char *old, const char *new, const char *why)
{
	const char *intact = machine;
	char text[4096], path[] = "cachesim-plugin-XXXXXX", argument[64];
	FILE *file = fopen(PRESETS "/rx4640.toml", "r");
	const char *at;

	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strstr(text, old);
	assert_non_null(at);
	file = fdopen(mkstemp(path), "w");
	fprintf(file, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
	fclose(file);
	snprintf(argument, sizeof(argument), "machine=%s", path);
	machine = argument;
	assert_refused(info_of_qemu(), why);
	machine = intact;
	unlink(path);
}

TEST(a_machine_that_cannot_be_is_refused)
{
	assert_machine_refused("bus = 26", "bus = 10001",
			       "bus = 10001: a whole number from 0 to 10000 is allowed");
	assert_machine_refused("overlap = 1", "overlap = 257",
			       "overlap = 257: a whole number from 1 to 256 is allowed");
	/* Each value is allowed, but they do not fit one another. */
	assert_machine_refused("l3.line = 128", "l3.line = 64",
			       "L2 and L3 lines must be equal, and L1 lines no longer");
	assert_machine_refused("clusters = 1", "clusters = 0",
			       "either clusters must be 1 to 64, or cluster_cpus more than 0");
	option = "node_memory=0x8000";
	assert_refused(info_of_qemu(), "machine rx4640 with 2 CPUs: a second NUMA node needs a second "
		       "cluster that has CPUs");
	option = NULL;
}

/* The exit status of a process that runs f, with its stderr left out. */
static int status_of(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A test in a process of its own, which leaves these files. */
#define FORKED_TEST(function, ...)						\
	static void function##_forked(void);					\
	FIXTURE_TEST(function)							\
	{									\
		const char *files[] = { NULL, ##__VA_ARGS__ };			\
										\
		assert_int_equal(status_of(function##_forked), 0);		\
		for (size_t i = 1; i < COUNT_OF(files); i++)			\
			assert_int_equal(unlink(files[i]), 0);			\
	}									\
	static void function##_forked(void)

/* Another plugin than that of the other tests, in such a process. */
static void install_with(const char *what)
{
	option = what;
	offered = info_of_qemu();
	install();
	if (installed)
		_exit(2);
}

FORKED_TEST(clusters_can_be_nodes)
{
	struct qemu_plugin_tb tb = { .n = 0 };
	const char *doc;

	machine = "machine=" PRESETS "/xeon-2s.toml";
	install_with("node_memory=0x8000");
	start_clock();
	add_access(&tb, KERNEL, false, 0x1000);
	translate(&tb, 0);
	execute(&tb, 0);
	execute(&tb, 1);
	/* Their code is in both CPUs' caches now. */
	run_marker(begin);
	tb.insn[0].data = 0x2000;
	execute(&tb, 0);
	tb.insn[0].data = 0x7000;
	execute(&tb, 1);
	tb.insn[0].data = 0x8000;
	execute(&tb, 1);
	doc = end_region();
	if (total(doc, "kernel", "l3_misses") != 3 || total(doc, "kernel", "remote_memory") != 1)
		_exit(3);
}

/* A miss, and one by this instruction; the cycles for which they stall. */
static long stalled_by(const uint8_t *bytes, size_t size)
{
	static uint64_t line = 0x4000;
	struct qemu_plugin_tb tb = { .n = 0 };

	add_access(&tb, KERNEL + 0x200, false, 0x1000);
	add_access(&tb, KERNEL + 0x204, false, 0x1000);
	tb.insn[1].bytes = bytes;
	tb.insn[1].size = size;
	run(&tb, 0);
	run_marker(begin);
	tb.insn[0].data = line += 64;
	tb.insn[1].data = line += 64;
	execute(&tb, 0);
	return total(end_region(), "kernel", "stall_cycles");
}

FORKED_TEST(no_miss_passes_a_locked_load)
{
	static const struct {
		uint8_t bytes[6];
		size_t size;
		bool locked;
	} cases[] = {
		{ { 0xf0, 0x0f, 0xb1, 0x17 }, 4, true },		/* lock cmpxchg %edx,(%rdi) */
		{ { 0x65, 0xf0, 0xff, 0x07 }, 4, true },		/* lock incl %gs:(%rdi) */
		{ { 0xf0, 0x66, 0xff, 0x07 }, 4, true },		/* lock incw (%rdi) */
		{ { 0x66, 0xf0, 0xff, 0x07 }, 4, true },		/* the same */
		{ { 0x87, 0x07 }, 2, true },				/* xchg %eax,(%rdi) */
		{ { 0x4c, 0x87, 0x07 }, 3, true },			/* xchg %r8,(%rdi) */
		{ { 0x65, 0x48, 0x86, 0x07 }, 4, true },		/* xchg %al,%gs:(%rdi) */
		/* Their neighbours. */
		{ { 0x48, 0x87, 0xc7 }, 3, false },			/* xchg %rax,%rdi */
		{ { 0x48, 0x85, 0x07 }, 3, false },			/* test %rax,(%rdi) */
		{ { 0x48, 0x89, 0xf0 }, 3, false },			/* mov %rsi,%rax */
		{ { 0xf3, 0x48, 0xa5 }, 3, false },			/* rep movsq */
	};

	machine = "machine=" PRESETS "/epyc-milan.toml";
	install_with("quantum=2000");
	start_clock();
	stalled_by(cases[0].bytes, cases[0].size);	/* the markers into the cache */
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		if ((stalled_by(cases[i].bytes, cases[i].size) >= 2 * (8 + 34 + 290)) !=
		    cases[i].locked)
			_exit(3 + (int)i);
}

/* A block of one locked instruction at `address`, which accesses `to`. */
static void add_lock(struct qemu_plugin_tb *tb, uint64_t address, uint64_t to)
{
	static const uint8_t cmpxchg[] = { 0xf0, 0x0f, 0xb1, 0x17 };

	add_access(tb, address, false, to);
	tb->insn[0].bytes = cmpxchg;
	tb->insn[0].size = sizeof(cmpxchg);
}

/* How often the turn ends when CPU 0 comes to a lock, while CPU 1 is behind. */
static unsigned int turns_ended_by_lock(const char *file)
{
	struct qemu_plugin_tb before = { .n = 0 }, lock = { .n = 0 }, think = { .n = 0 };
	unsigned int ended;

	machine = file;
	install_with("quantum=100000");
	start_clock();
	add(&think, USER + 0x300);
	add(&before, USER + 0x200);
	add_lock(&lock, USER + 0x204, 0x1000);
	translate(&think, 0);
	translate(&before, 0);
	translate(&lock, 0);
	for (int i = 0; i < 3; i++) {
		execute(&think, 1);
		ended = qemu.turns_ended;
		execute(&before, 0);
		ended = qemu.turns_ended - ended;
		execute(&lock, 0);
		execute(&think, 0);
	}
	return ended;
}

FORKED_TEST(the_turn_ends_before_a_lock)
{
	if (turns_ended_by_lock("machine=" PRESETS "/epyc-milan.toml") != 1)
		_exit(3);
}

/* glibc looks at a mutex's kind first: that load takes the line. */
FORKED_TEST(the_turn_ends_before_the_line_of_a_lock_is_taken)
{
	struct qemu_plugin_tb before = { .n = 0 }, look = { .n = 0 }, lock = { .n = 0 };
	struct qemu_plugin_tb theirs = { .n = 0 };
	unsigned int ended = 0;

	machine = "machine=" PRESETS "/epyc-milan.toml";
	install_with("quantum=100000");
	start_clock();
	add(&before, USER + 0x200);
	add_access(&look, USER + 0x204, false, 0x1010);
	add_lock(&lock, USER + 0x208, 0x1000);
	add_access(&theirs, USER + 0x300, true, 0x1000);
	translate(&before, 0);
	translate(&look, 0);
	translate(&lock, 0);
	translate(&theirs, 1);
	for (int i = 0; i < 3; i++) {
		execute(&theirs, 1);
		ended = qemu.turns_ended;
		execute(&before, 0);
		ended = qemu.turns_ended - ended;
		execute(&look, 0);
		execute(&lock, 0);
	}
	if (ended != 1)
		_exit(3);
}

/* Cycles that a CPU stands still for two loads, if they bring `pointer`. */
static long stalled_through(uint64_t pointer, uint64_t to)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add_access(&tb, KERNEL + 0x200, false, to + 0x800);
	add_access(&tb, KERNEL + 0x204, false, to);
	mem_value = pointer;
	run_marker(begin);
	run(&tb, 0);
	return total(end_region(), "kernel", "stall_cycles");
}

FORKED_TEST(a_load_through_a_pointer_waits_for_it)
{
	long alone, through;

	machine = "machine=" PRESETS "/epyc-milan.toml";
	install_with("quantum=2000");
	start_clock();
	stalled_through(0, 0x3000);	/* the code into the cache */
	alone = stalled_through(0, 0x5000);
	through = stalled_through(0x7000 - 8, 0x7000);
	/* Misses before them may be under way still. */
	if (through - alone < 290)
		_exit(3);
}

FORKED_TEST(an_in_order_machine_has_no_turns_for_locks)
{
	if (turns_ended_by_lock("machine=" PRESETS "/rx4640.toml"))
		_exit(3);
}

/* rx4640's file with this line in place of its own. */
#define MACHINE "cachesim-plugin-test.toml"
static void write_machine(const char *line)
{
	size_t key = strcspn(line, "=");
	FILE *from = fopen(PRESETS "/rx4640.toml", "r"), *to = fopen(MACHINE, "w");
	char text[256];

	while (from && to && fgets(text, sizeof(text), from))
		fputs(strncmp(text, line, key) ? text : line, to);
	if (!from || !to || fclose(from) || fclose(to))
		_exit(2);
}

FORKED_TEST(a_switch_of_threads_takes_what_the_machine_says, MACHINE)
{
	write_machine("context_switch = 500\n");
	machine = "machine=" MACHINE;
	install_with("quantum=2000");
	start_clock();
	step(SWITCH, 0, TASK, NO_TASK, 0);	/* into the cache */
	run_marker(begin);
	step(SWITCH, 0, NO_TASK, TASK, 0);
	if (total(end_region(), "kernel", "cycles") != 1 + 500)
		_exit(3);
}

static void count_own(void)
{
	const char *doc;
	long unasked;

	run_marker(begin);
	some_futex_calls();
	unasked = total(end_region(), "user", "l2_misses");

	install_with("futexes=own");
	start_clock();
	qemu.cr3 = 0x2000;
	run_marker(begin);
	some_futex_calls();
	doc = end_region();
	/* Looking at them changes nothing else. */
	if (total(doc, "user", "l2_misses") != unasked)
		_exit(3);
	if (!strstr(doc, ",\"futexes\":[{\"program\":true,\"address\":4210752,\"wakes\":2,"
		    "\"handoffs\":1,\"pi_unlocks\":0,"))
		_exit(4);
}

static void count_next(void)
{
	const char *own;

	install_with("futexes=next");
	start_clock();
	qemu.cr3 = 0x1000;
	run_marker(begin);
	call_futex(0x1000, 1, 0x404000);
	return_from_kernel(0x1000, 1, 1, true);
	return_from_kernel(0x2000, 0, 0, true);
	some_futex_calls();
	own = strstr(end_region(),
		     ",\"futexes\":[{\"program\":true,\"address\":4210752,\"wakes\":2,"
		     "\"handoffs\":1,\"pi_unlocks\":0,");
	if (!own || !strstr(own, "},{\"program\":false,\"address\":4210688,\"wakes\":1,"
			    "\"handoffs\":1,\"pi_unlocks\":0,"))
		_exit(4);
}

/* The program asks where its heap begins. */
static void ask_for_heap(uint64_t space)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };

	qemu.swapped = true;
	qemu.cr3 = space;
	qemu.rax = 12;
	qemu.rdi = 0;
	run_bytes(USER, syscall, sizeof(syscall), 0);
	qemu.swapped = false;
	return_from_kernel(space, 0, 0x14000, true);
}

FORKED_TEST(locks_are_watched)
{
	const char *doc;

	install_with("futexes=own");
	start_clock();
	ask_for_heap(0x2000);
	qemu.cr3 = 0x2000;
	run_marker(begin);
	/* Two words of its stack are there. */
	qemu.rsp = STACK_END - 16;
	qemu.rbp = 0x55;
	wait_for_lock(0x2000, 2, 0x404040);
	qemu.rsp = STACK_END - 4096;
	call_futex(0x2000, 1, 0x404040);
	return_from_kernel(0x2000, 1, 1, true);
	return_from_kernel(0x2000, 2, 0, true);
	doc = end_region();
	if (!strstr(doc, "\"left\":0,\"local\":0,\"remote\":1,\"moved\":0,\"handoff\":{\"count\":1,"))
		_exit(3);
	if (!strstr(doc, ",\"call_sites\":[{\"address\":4210752,\"releases\":false,\"pc\":4194304,"
		    "\"sp\":2147479536,\"bp\":85,\"stack\":[2147479536,2147479544]},"
		    "{\"address\":4210752,\"releases\":true,\"pc\":4194304,\"sp\":2147475456,"))
		_exit(4);
	if (!strstr(doc, ",\"heap\":81920}\n"))
		_exit(5);
}

/* A program executes a block there. */
static void run_program(uint64_t vaddr, uint64_t sp)
{
	qemu.swapped = true;
	qemu.cr3 = 0x2000;
	qemu.rsp = sp;
	run_bytes(vaddr, nop, sizeof(nop), 0);
	qemu.swapped = false;
}

/* And calls a function of these bytes, which returns to where the stack's words say. */
static void call_allocator(uint64_t vaddr, const char *bytes, uint64_t sp, uint64_t rdi,
			   uint64_t rdx)
{
	memcpy(&ram[vaddr & (sizeof(ram) - 1)], bytes, 4);
	qemu.fs_base = 1;
	qemu.rdi = rdi;
	qemu.rdx = rdx;
	qemu.rbp = 0x55;
	run_program(vaddr, sp);
}

static void wait_once(uint64_t address)
{
	qemu.rsp = STACK_END - 16;
	wait_for_lock(0x2000, 2, address);
	return_from_kernel(0x2000, 2, 11, true);
	call_futex(0x2000, 2, address);
	return_from_kernel(0x2000, 2, 1, true);
}

#define ALLOCATED ",\"allocation\":{\"pc\":%u,\"sp\":%llu,\"bp\":85,\"stack\":[%llu,"

static bool is_allocated(const char *doc, unsigned int pc, unsigned long long sp)
{
	char text[128];

	snprintf(text, sizeof(text), ALLOCATED, pc, sp, sp);
	return strstr(doc, text);
}

FORKED_TEST(it_is_known_where_locks_were_allocated, ATTRIBUTED, ALLOCATORS)
{
	const uint64_t sp = STACK_END - 4096, back = sp + 8;
	char *argv[] = { (char *)machine, "system_map=" MAP, (char *)out, "futexes=own",
			 "attribute=" ATTRIBUTED, "allocators=" ALLOCATORS };
	FILE *file = fopen(ALLOCATORS, "w");
	const char *doc;

	fputs("malloc 9100 01020304\nposix_memalign 9200 05060708\n", file);
	fclose(file);
	offered = info_of_qemu();
	if (qemu_plugin_install(ID, &offered, 6, argv))
		_exit(2);
	start_clock();
	/* Before the region begins. A block at the return address is not the return elsewhere. */
	call_allocator(0x408100, "\1\2\3\4", sp, 64, 0);
	qemu.rax = 0x11111;
	run_program(sp, back - 16);
	qemu.rax = 0x404040;
	run_program(sp, back);
	/* It tells where by memory, whose words are their addresses. */
	call_allocator(0x40a200, "\5\6\7\10", sp - 64, 0x505040, 64);
	qemu.rax = 0;
	run_program(sp - 64, back - 64);
	/* The C library asks a second time, when it first needs memory. */
	qemu.fs_base = 1;
	ask_for_heap(0x2000);
	/* Not the same bytes. */
	call_allocator(0x40b100, "\1\2\3\5", sp, 64, 0);
	qemu.rax = 0x606040;
	run_program(sp, back);
	qemu.cr3 = 0x2000;
	run_marker(begin);
	wait_once(0x404078);
	wait_once(0x505040);
	wait_once(0x606040);
	doc = end_region();
	if (!is_allocated(doc, 0x408100, sp) || !is_allocated(doc, 0x40a200, sp - 64))
		_exit(3);
	if (is_allocated(doc, 0x40b100, sp))
		_exit(4);
	/* Another program begins in that address space. */
	qemu.fs_base = 0;
	ask_for_heap(0x2000);
	qemu.cr3 = 0x2000;
	run_marker(begin);
	wait_once(0x404078);
	if (strstr(end_region(), "\"allocation\""))
		_exit(5);
}

FIXTURE_TEST(handoffs_are_counted_by_address)
{
	assert_int_equal(status_of(count_own), 0);
	assert_int_equal(status_of(count_next), 0);
}

/* Blocks of two programs and of the kernel, on two CPUs, before and after begin and end. */
static void some_traffic(void)
{
	struct qemu_plugin_tb first = { .n = 0 }, second = { .n = 0 }, kernel_too = { .n = 0 };
	struct qemu_plugin_tb last = { .n = 0 };
	static const uint8_t fxsave[] = { 0x0f, 0xae, 0x07 }, fxrstor[] = { 0x0f, 0xae, 0x0f };

	qemu.cr3 = 0x2000;
	add_access(&first, USER, true, 0x3000);
	add_marker(&first, USER + 4, begin);
	add_access(&first, USER + 12, true, 0x3000);
	run(&first, 0);
	add_access(&second, USER + 60, false, 0x3000);
	add_access(&second, USER + 64, true, 0x20ffc);	/* across pages */
	add_access(&kernel_too, KERNEL + 0x40, true, 0x3040);
	add_access(&kernel_too, IDLE + 0x40, true, 0x3080);
	add_state(&kernel_too, KERNEL + 0x200, fxsave, sizeof(fxsave), true);
	add_state(&kernel_too, KERNEL + 0x204, fxrstor, sizeof(fxrstor), false);
	run(&second, 0);
	run(&kernel_too, 0);
	qemu.cr3 = 0x1000;	/* to another program */
	run(&second, 0);
	run(&kernel_too, 0);
	qemu.cr3 = 0x2000;
	run(&second, 1);
	run(&kernel_too, 1);
	run_bytes(USER + 68, spin_hint, sizeof(spin_hint), 1);
	add_access(&last, USER + 16, true, 0x2000);
	add_marker(&last, USER + 20, end);
	add_access(&last, USER + 28, false, 0x3000);
	run(&last, 0);
}

/* The sum of a column over all instructions of a mode: {"mode":M,...,"instructions":[[...],...]}. */
static unsigned long attributed(const char *text, const char *mode, int column)
{
	unsigned long sum = 0;
	char key[64];

	snprintf(key, sizeof(key), "{\"mode\":\"%s\",\"program\":", mode);
	while ((text = strstr(text, key)) && text < strstr(text, "\"instructions\":[[")) {
		char *at = strstr(text, "[[");

		do {
			at++;
			for (int i = -1; i < 9; i++) {
				unsigned long value = strtoul(at + 1, &at, 10);

				sum += i == column ? value : 0;
			}
		} while (*++at == ',');
		text = at;
	}
	return sum;
}

FORKED_TEST(what_instructions_cost_adds_up, ATTRIBUTED)
{
	static const char *const modes[] = { "user", "kernel", "idle" };
	static const char *const columns[] = { "instructions", "l1i_misses", "l1d_misses",
		"l2_misses", "l3_misses", "bus_requests", "cache_to_cache", "stall_cycles", "cycles" };
	static char text[1 << 16];
	const char *doc;
	char *unasked;

	install_with("quantum=2000");
	start_clock();
	some_traffic();
	unasked = strdup(documents());

	install_with("attribute=" ATTRIBUTED);
	start_clock();
	some_traffic();
	doc = documents();
	/* Looking at it changes nothing. */
	if (!unasked || strcmp(doc, unasked))
		_exit(3);
	free(unasked);
	take(ATTRIBUTED, text, sizeof(text));
	for (size_t mode = 0; mode < 3; mode++) {
		for (int i = 0; i < 9; i++) {
			unsigned long unit = i < 7 ? 1 : CACHESIM_CYCLE;

			if (attributed(text, modes[mode], i) !=
			    unit * total(doc, modes[mode], columns[i]))
				_exit(4);
		}
	}
	/*
	 * What two CPUs execute is told once, what another program does is told apart. The first of
	 * the two instructions is in a line that CPU 0 has fetched.
	 */
	if (!strstr(text, "[4194364,2,1,") || !strstr(text, ",[4194368,2,2,") ||
	    !strstr(text, "\"program\":false,\"instructions\":[[4194364,1,0,"))
		_exit(5);
}

static void run_on_cpu_1(uint64_t space)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	qemu.cr3 = space;
	run_marker(begin);
	add(&tb, USER + 0x40);
	run(&tb, 1);
	run_marker(end);
}

/* Another program runs since the region before, and the plugin has not seen the switch. */
FORKED_TEST(a_region_knows_nothing_of_the_programs_before, ATTRIBUTED)
{
	static char text[1 << 16];

	install_with("attribute=" ATTRIBUTED);
	start_clock();
	run_on_cpu_1(0x2000);
	take(ATTRIBUTED, text, sizeof(text));
	run_on_cpu_1(0x1000);
	take(ATTRIBUTED, text, sizeof(text));
	documents();
	if (!strstr(text, ",[4194368,1,0,") || strstr(text, "\"program\":false"))
		_exit(3);
}

FIXTURE_TEST(a_register_that_is_missing_is_named)
{
	qemu.no_rdi = true;
	assert_string_equal(registers_find(), "rdi");
	qemu.no_rdi = false;
	assert_null(registers_find());
}

static void write_to_a_full_disk(void)
{
	out = "out=/dev/full";
	install();
	start_clock();
	roi_once();
}

static void run_without_a_kernel(void)
{
	qemu.no_kernel = true;
	roi_once();
}

/* The generated code keeps something else in the host register. */
static void switch_unseen(void)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	run_marker(begin);
	add(&tb, KERNEL);
	run(&tb, 0);
	qemu.running = 1;
	for (int i = 0; i < 5000; i++)
		call_as_generated_code(tb.insn[0].exec[0].call, 0, tb.insn[0].exec[0].userdata,
				       ENV(0));
}

static void begin_before_the_clock(void)
{
	install();
	run_marker(begin);
}

static void begin_with_another_map(void)
{
	install();
	qemu.unreadable = true;
	start_clock();
}

static void begin_the_clock_twice(void)
{
	run_marker(clock_begins);
}

static void lose_the_burner(void)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	add(&tb, USER);
	translate(&tb, 0);
	for (int i = 0; i < 2000000; i++)
		execute(&tb, 0);
}

static void *start_second_vcpu(void *unused)
{
	(void)unused;
	begin_vcpu(1);
	return NULL;
}

static void run_in_one_thread(void)
{
	begin_vcpu(0);
	begin_vcpu(1);
}

static void run_in_two_threads(void)
{
	pthread_t thread;

	begin_vcpu(0);
	pthread_create(&thread, NULL, start_second_vcpu, NULL);
	pthread_join(thread, NULL);
}

FIXTURE_TEST(what_would_lose_or_spoil_counts_ends_qemu)
{
	assert_int_equal(status_of(write_to_a_full_disk), 1);
	assert_int_equal(status_of(run_without_a_kernel), 1);
	assert_int_equal(status_of(wake_what_is_no_task), 1);
	assert_int_equal(status_of(begin_before_the_clock), 1);
	assert_int_equal(status_of(begin_the_clock_twice), 1);
	assert_int_equal(status_of(begin_with_another_map), 1);
	assert_int_equal(status_of(lose_the_burner), 1);
#ifdef __x86_64__
	assert_int_equal(status_of(switch_unseen), 1);
#endif
	assert_int_equal(status_of(run_in_one_thread), 0);
	assert_int_equal(status_of(run_in_two_threads), 1);
}

static int write_map(UNIT_STATE)
{
	FILE *map = fopen(MAP, "w");

	fprintf(map, "%llx T __cpuidle_text_start\n%llx T __cpuidle_text_end\n"
		"%llx D __per_cpu_offset\n%llx B sched_clock_ahead\n%llx T arch_cpu_idle_exit\n%llx t interrupt_arrives\n"
		"%llx T try_to_wake_up\n%llx T wake_up_new_task\n%llx t dequeue_task_fair\n"
		"%llx T __switch_to_asm\n",
		IDLE, IDLE + 0x100, PER_CPU_OFFSET, KERNEL + AHEAD, IDLE_EXIT, INTERRUPT, WAKE, NEW_TASK, DEQUEUE,
		SWITCH);
	return fclose(map);
}

static int remove_files(UNIT_STATE)
{
	return unlink(OUT) || unlink(MAP);
}

RUN_TESTS(write_map, remove_files)
