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

#include "qemu_plugin_api.h"
#include "registers.h"
#include "roi.h"

#define KERNEL 0xffffffff80000000ull
#define IDLE (KERNEL + 0x5000)
#define USER 0x400000ull
#define OUT "cachesim-plugin-test.jsonl"

/* One instruction of the guest, and what the plugin asked for on it. */
struct qemu_plugin_insn {
	uint64_t vaddr;
	size_t size;
	const uint8_t *bytes;
	enum { NOTHING, LOAD, STORE } access;
	uint64_t data;		/* virtual and physical address of the access */
	struct {
		qemu_plugin_vcpu_udata_cb_t call;
		void *userdata;
	} exec[4];
	int n_exec;
	qemu_plugin_vcpu_mem_cb_t on_load, on_store;
};

struct qemu_plugin_tb {
	struct qemu_plugin_insn insn[8];
	size_t n;
};

struct qemu_plugin_hwaddr {
	uint64_t phys;
};

/*
 * As QEMU from 10.0 on, the stand-in passes callbacks the index of the vCPU that
 * translated the code; only its registers tell who runs.
 */
static struct {
	unsigned int running, translator;
	bool swapped;	/* a program runs: the kernel's GS base is set aside */
	bool no_kernel;	/* and none has set one */
	bool no_rdi;	/* an older QEMU */
	uint64_t rax, rdi, rsi, rdx, fs_base, cr3;
	qemu_plugin_vcpu_simple_cb_t vcpu_init;
	qemu_plugin_vcpu_tb_trans_cb_t translate;
	qemu_plugin_simple_cb_t flush, reset;
	qemu_plugin_udata_cb_t at_exit;
	bool io;
} qemu;

static uint8_t ram[1 << 16];	/* guest physical memory from 0; user code lies 0x400000 above */

void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb)
{
	(void)id;
	qemu.reset = cb;
}

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb)
{
	(void)id;
	qemu.vcpu_init = cb;
}

void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb)
{
	(void)id;
	qemu.flush = cb;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void *userdata)
{
	(void)id;
	(void)userdata;
	qemu.at_exit = cb;
}

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb)
{
	(void)id;
	qemu.translate = cb;
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
	(void)userdata;
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
	return &ram[insn->vaddr & 0xffff];
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
	hw.phys = vaddr < 0x21000 ? vaddr : vaddr + 0x100000;
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
	static uint8_t bytes[64];
	static struct glib_array array = { .data = bytes };

	return &array;
}

struct glib_array *qemu_plugin_get_registers(void)
{
	static qemu_plugin_reg_descriptor registers[] = {
		{ (void *)1, "rax", "core" },
		{ (void *)2, "gs_base", "core" },
		{ (void *)3, "k_gs_base", "core" },
		{ (void *)4, "fs_base", "core" },
		{ (void *)5, "cr3", "core" },
		{ (void *)6, "rsi", "core" },
		{ (void *)7, "rdx", "core" },
		{ (void *)8, "rdi", "core" },
	};
	static struct glib_array array = { .data = registers };

	array.len = qemu.no_rdi ? 7 : 8;
	return &array;
}

int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct glib_array *buf)
{
	uint64_t kernel_base = qemu.no_kernel ? 0x7000 : 0xffff888000000000 + 0x1000 * qemu.running;
	const uint64_t values[] = {
		[1] = qemu.rax,
		[2] = qemu.swapped ? 0x7000 : kernel_base,
		[3] = qemu.swapped ? kernel_base : 0x7000,
		[4] = qemu.fs_base,
		[5] = qemu.cr3,
		[6] = qemu.rsi,
		[7] = qemu.rdx,
		[8] = qemu.rdi,
	};
	uint64_t value = values[(uintptr_t)handle];

	memcpy((uint8_t *)buf->data + buf->len, &value, sizeof(value));
	buf->len += sizeof(value);
	return sizeof(value);
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
	qemu.translate(1, tb);
}

/* Execute a translated block on `vcpu`; then do what is pending, as QEMU does. */
static void execute(struct qemu_plugin_tb *tb, unsigned int vcpu)
{
	qemu_plugin_simple_cb_t reset;

	qemu.running = vcpu;
	for (size_t i = 0; i < tb->n; i++) {
		struct qemu_plugin_insn *insn = &tb->insn[i];

		for (int k = 0; k < insn->n_exec; k++)
			call_as_generated_code(insn->exec[k].call, qemu.translator,
					       insn->exec[k].userdata, 0x1000 + vcpu);
		if (insn->access == LOAD && insn->on_load)
			insn->on_load(qemu.translator, 3, insn->data, NULL);	/* 8 bytes */
		if (insn->access == STORE && insn->on_store)
			insn->on_store(qemu.translator, 3, insn->data, NULL);
	}
	reset = qemu.reset;
	qemu.reset = NULL;
	if (reset) {
		qemu.flush(1);
		reset(1);
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

/* What OUT holds; empties it. */
static const char *documents(void)
{
	static char text[1 << 16];
	FILE *f = fopen(OUT, "r+");
	size_t n = fread(text, 1, sizeof(text) - 1, f);

	text[n] = '\0';
	assert_int_equal(ftruncate(fileno(f), 0), 0);
	fclose(f);
	return text;
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

static void nothing_is_instrumented_outside(void **state)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	(void)state;
	add(&tb, USER);
	add_access(&tb, USER + 4, true, 0x1000);
	run(&tb, 0);
	assert_int_equal(tb.insn[0].n_exec, 0);
	assert_int_equal(tb.insn[1].n_exec, 0);
	assert_null(tb.insn[1].on_load);
	assert_null(tb.insn[1].on_store);
	assert_string_equal(documents(), "");
}

static void counting_starts_and_stops_at_the_markers(void **state)
{
	struct qemu_plugin_tb first = { .n = 0 }, last = { .n = 0 };
	const char *doc;

	(void)state;
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

static void every_roi_is_one_line_and_starts_cold(void **state)
{
	const char *doc, *second;

	(void)state;
	roi_once();
	roi_once();
	doc = documents();
	second = strchr(doc, '\n') + 1;
	assert_int_equal(second[strlen(second) - 1], '\n');
	assert_ptr_equal(strchr(second, '\n') + 1, second + strlen(second));
	for (const char *one = doc; one; one = one == doc ? second : NULL) {
		assert_int_equal(total(one, "user", "l1i_references"), 3);	/* with the end marker's */
		assert_int_equal(total(one, "user", "l1d_misses"), 1);
		assert_int_equal(total(one, "user", "bus_requests"), 3);
	}
}

static void nothing_is_instrumented_after_the_end(void **state)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	(void)state;
	roi_once();
	documents();
	add_access(&tb, USER, true, 0x1000);
	run(&tb, 0);
	assert_null(tb.insn[0].on_store);
}

static void an_empty_roi_in_one_block_is_written_too(void **state)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	(void)state;
	add_marker(&tb, USER, begin);
	add_marker(&tb, USER + 8, end);
	run(&tb, 0);
	assert_int_equal(total(documents(), "user", "instructions"), 0);
	nothing_is_instrumented_outside(state);
}

static void modes_follow_the_address(void **state)
{
	struct qemu_plugin_tb kernel = { .n = 0 }, idle = { .n = 0 }, after = { .n = 0 };
	const char *doc;

	(void)state;
	run_marker(begin);
	add(&kernel, IDLE - 4);
	add_access(&idle, IDLE, false, 0x1000);
	add(&idle, IDLE + 4);
	add(&after, IDLE + 0x100);
	run(&kernel, 0);
	run(&idle, 0);
	run(&after, 0);
	run_marker(end);
	doc = documents();
	assert_int_equal(total(doc, "kernel", "instructions"), 2);
	assert_int_equal(total(doc, "idle", "instructions"), 2);
	assert_int_equal(total(doc, "idle", "l1d_references"), 1);
	assert_int_equal(total(doc, "user", "instructions"), 1);
}

/* The kernel's and a program's view of one physical line are one line. */
static void code_is_physically_addressed(void **state)
{
	struct qemu_plugin_tb kernel = { .n = 0 }, user = { .n = 0 };

	(void)state;
	run_marker(begin);
	add(&kernel, KERNEL + 0x7000);
	add(&user, USER + 0x7000);
	run(&kernel, 0);
	run(&user, 0);
	run_marker(end);
	/* the end marker's line is the only miss in user mode */
	assert_int_equal(total(documents(), "user", "l1i_misses"), 1);
}

static void an_access_across_pages_goes_to_both(void **state)
{
	struct qemu_plugin_tb tb = { .n = 0 }, second = { .n = 0 };
	const char *doc;

	(void)state;
	run_marker(begin);
	add_access(&tb, USER, false, 0x20ffc);
	run(&tb, 0);
	add_access(&second, USER, false, 0x21000);	/* the tail's physical line */
	run(&second, 0);
	run_marker(end);
	doc = documents();
	assert_int_equal(total(doc, "user", "l1d_references"), 3);
	assert_int_equal(total(doc, "user", "l1d_misses"), 2);
}

static void io_is_no_memory(void **state)
{
	struct qemu_plugin_tb tb = { .n = 0 };

	(void)state;
	run_marker(begin);
	qemu.io = true;
	add_access(&tb, USER, false, 0x1000);
	run(&tb, 0);
	qemu.io = false;
	run_marker(end);
	assert_int_equal(total(documents(), "user", "l1d_references"), 0);
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

static void shared_translations_count_for_the_vcpu_that_runs(void **state)
{
	struct qemu_plugin_tb tb = { .n = 0 };
	const char *doc;

	(void)state;
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
	run_marker(end);
	doc = documents();
	assert_int_equal(per_cpu(doc, 0, "kernel"), 4);
	assert_int_equal(per_cpu(doc, 1, "kernel"), 6);
	/* the line went from 0 to 1, back and forth again */
	assert_int_equal(total(doc, "kernel", "cache_to_cache"), 3);
}

static void run_bytes(uint64_t vaddr, const uint8_t *bytes, size_t size, unsigned int vcpu)
{
	struct qemu_plugin_tb tb = { .n = 0 };
	struct qemu_plugin_insn *insn = add(&tb, vaddr);

	insn->bytes = bytes;
	insn->size = size;
	run(&tb, vcpu);
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

static void futexes_are_not_looked_at_unasked(void **state)
{
	(void)state;
	run_marker(begin);
	some_futex_calls();
	run_marker(end);
	assert_null(strstr(documents(), "futexes"));
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
	qemu.at_exit(1, NULL);
	run_marker(end);
}

static void stray_markers_and_early_exits_are_told(void **state)
{
	(void)state;
	assert_non_null(strstr(said(end_alone), "end marker without a begin marker"));
	assert_string_equal(documents(), "");
	assert_non_null(strstr(said(exit_inside), "ends inside a region of interest"));
	documents();
}

static qemu_info_t info_of_qemu(void)
{
	qemu_info_t info = {
		.target_name = "x86_64",
		.version = { .min = 2, .cur = 4 },
		.system_emulation = true,
		.system = { .smp_vcpus = 2, .max_vcpus = 2 },
	};

	return info;
}

static const char *out = "out=" OUT;
static qemu_info_t offered;
static int installed;

static void install(void)
{
	char *argv[] = { "machine=" PRESETS "/rx4640.toml", "idle=0xffffffff80005000-0xffffffff80005100", (char *)out };

	installed = qemu_plugin_install(1, &offered, 3, argv);
}

static void assert_refused(qemu_info_t info, const char *why)
{
	const char *text;

	offered = info;
	text = said(install);
	assert_int_equal(installed, -1);
	if (!strstr(text, why))
		fail_msg("\"%s\" does not say \"%s\"", text, why);
}

static void what_does_not_fit_is_refused(void **state)
{
	qemu_info_t info = info_of_qemu();

	(void)state;
	info.version.cur = 3;
	assert_refused(info, "built for version 4 of QEMU's plugin API, but this QEMU has 2 to 3");
	info.version.cur = 6;
	info.version.min = 5;
	assert_refused(info, "but this QEMU has 5 to 6");
	info = info_of_qemu();
	info.system_emulation = false;
	assert_refused(info, "not in this x86_64 user emulation");
	info = info_of_qemu();
	info.target_name = "aarch64";
	assert_refused(info, "not in this aarch64");
	info = info_of_qemu();
	info.system.max_vcpus = 65;
	assert_refused(info, "65 vCPUs are too many");
	out = "out=/nonexistent/file";
	assert_refused(info_of_qemu(), "cannot write /nonexistent/file: No such file or directory");
	out = "oot=x";
	assert_refused(info_of_qemu(), "argument \"oot=x\" is unknown");
	out = "out=" OUT;
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

/* Another plugin than that of the other tests, in a process of its own. */
static void install_for_futexes(const char *whose)
{
	char *argv[] = { "machine=" PRESETS "/rx4640.toml", "idle=0xffffffff80005000-0xffffffff80005100", (char *)out,
			 (char *)whose };

	offered = info_of_qemu();
	if (qemu_plugin_install(1, &offered, 4, argv))
		_exit(2);
}

static void count_own(void)
{
	const char *doc;
	long unasked;

	run_marker(begin);
	some_futex_calls();
	run_marker(end);
	unasked = total(documents(), "user", "l2_misses");

	install_for_futexes("futexes=own");
	qemu.cr3 = 0x2000;
	run_marker(begin);
	some_futex_calls();
	run_marker(end);
	doc = documents();
	/* Looking at them changes nothing else. */
	if (total(doc, "user", "l2_misses") != unasked)
		_exit(3);
	if (!strstr(doc, ",\"futexes\":[{\"program\":true,\"address\":4210752,\"wakes\":2,"
		    "\"handoffs\":1,\"pi_unlocks\":0}]}\n"))
		_exit(4);
}

static void count_next(void)
{
	install_for_futexes("futexes=next");
	qemu.cr3 = 0x1000;
	run_marker(begin);
	call_futex(0x1000, 1, 0x404000);
	return_from_kernel(0x1000, 1, 1, true);
	return_from_kernel(0x2000, 0, 0, true);
	some_futex_calls();
	run_marker(end);
	if (!strstr(documents(), ",\"futexes\":["
		    "{\"program\":true,\"address\":4210752,\"wakes\":2,\"handoffs\":1,\"pi_unlocks\":0},"
		    "{\"program\":false,\"address\":4210688,\"wakes\":1,\"handoffs\":1,\"pi_unlocks\":0}"
		    "]}\n"))
		_exit(4);
}

static void handoffs_are_counted_by_address(void **state)
{
	(void)state;
	assert_int_equal(status_of(count_own), 0);
	assert_int_equal(status_of(count_next), 0);
}

static void a_register_that_is_missing_is_named(void **state)
{
	(void)state;
	qemu.no_rdi = true;
	assert_string_equal(registers_find(), "rdi");
	qemu.no_rdi = false;
	assert_null(registers_find());
}

static void write_to_a_full_disk(void)
{
	out = "out=/dev/full";
	offered = info_of_qemu();
	install();
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
				       0x1000);
}

static void *start_second_vcpu(void *unused)
{
	(void)unused;
	qemu.vcpu_init(1, 1);
	return NULL;
}

static void run_in_one_thread(void)
{
	qemu.vcpu_init(1, 0);
	qemu.vcpu_init(1, 1);
}

static void run_in_two_threads(void)
{
	pthread_t thread;

	qemu.vcpu_init(1, 0);
	pthread_create(&thread, NULL, start_second_vcpu, NULL);
	pthread_join(thread, NULL);
}

static void what_would_lose_or_spoil_counts_ends_qemu(void **state)
{
	(void)state;
	assert_int_equal(status_of(write_to_a_full_disk), 1);
	assert_int_equal(status_of(run_without_a_kernel), 1);
#ifdef __x86_64__
	assert_int_equal(status_of(switch_unseen), 1);
#endif
	assert_int_equal(status_of(run_in_one_thread), 0);
	assert_int_equal(status_of(run_in_two_threads), 1);
}

static int load_plugin(void **state)
{
	struct qemu_plugin_tb boot = { .n = 0 };

	(void)state;
	offered = info_of_qemu();
	install();
	if (installed)
		return -1;
	qemu.vcpu_init(1, 0);
	add(&boot, KERNEL);	/* tells the plugin where RAM begins, and who is who */
	run(&boot, 0);
	run(&boot, 1);
	return 0;
}

static int remove_output(void **state)
{
	(void)state;
	return unlink(OUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_instrumented_outside),
		cmocka_unit_test(counting_starts_and_stops_at_the_markers),
		cmocka_unit_test(every_roi_is_one_line_and_starts_cold),
		cmocka_unit_test(nothing_is_instrumented_after_the_end),
		cmocka_unit_test(an_empty_roi_in_one_block_is_written_too),
		cmocka_unit_test(modes_follow_the_address),
		cmocka_unit_test(code_is_physically_addressed),
		cmocka_unit_test(an_access_across_pages_goes_to_both),
		cmocka_unit_test(io_is_no_memory),
		cmocka_unit_test(shared_translations_count_for_the_vcpu_that_runs),
		cmocka_unit_test(futexes_are_not_looked_at_unasked),
		cmocka_unit_test(handoffs_are_counted_by_address),
		cmocka_unit_test(a_register_that_is_missing_is_named),
		cmocka_unit_test(stray_markers_and_early_exits_are_told),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(what_would_lose_or_spoil_counts_ends_qemu),
	};

	return cmocka_run_group_tests(tests, load_plugin, remove_output);
}
