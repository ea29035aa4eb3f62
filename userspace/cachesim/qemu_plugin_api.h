/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subset of QEMU's TCG plugin interface that cachesim uses; Debian ships no header. The
 * symbols are QEMU's own and are bound when it loads the plugin. Reference: QEMU's
 * documentation, "QEMU TCG Plugins", section API.
 *
 * The plugin runs with QEMU 9.2 to 11.1. Up to 11.0 the API has version 4 to 6, and plugins of
 * version 4 are accepted; 11.1 has version 7 and accepts no other. A plugin has one version, which
 * QEMU reads before it calls anything. So there are two plugins of the same source (meson.build), of
 * version 4 and of version 7. Of what is declared here, 7 differs in the callbacks of the plugin as a
 * whole: they are passed `userdata`, what they were registered with, and not the plugin's id
 * (qemu_callbacks.c).
 */
#ifndef QEMU_PLUGIN_API_H
#define QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

#if !defined(QEMU_PLUGIN_VERSION) || (QEMU_PLUGIN_VERSION != 4 && QEMU_PLUGIN_VERSION != 7)
#error "QEMU_PLUGIN_VERSION is to be 4 or 7: the version of the API that the plugin is for"
#endif

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_plugin_register;

/* GLib's GArray and GByteArray, which the interface passes; their public fields. */
struct glib_array {
	void *data;
	unsigned int len;
};

struct glib_array *g_byte_array_new(void);
void g_byte_array_unref(struct glib_array *array);
unsigned int g_array_get_element_size(struct glib_array *array);

/* Newer versions append members: an array's elements are as far apart as GLib says. */
typedef struct {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
} qemu_plugin_reg_descriptor;

typedef struct qemu_info_t {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus;
			int max_vcpus;
		} system;
	};
} qemu_info_t;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
};

typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu, void *userdata);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu, qemu_plugin_meminfo_t info,
					  uint64_t vaddr, void *userdata);

/* What QEMU looks up in the plugin. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv);

#if QEMU_PLUGIN_VERSION < 7
typedef void (*qemu_plugin_simple_cb_t)(qemu_plugin_id_t id);
typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void *userdata);
typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id, unsigned int vcpu);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* Drops all of the plugin's callbacks and all translations, then calls cb; asynchronous. */
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb,
				    void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_vcpu_tb_trans_cb_t cb);
#else
typedef void (*qemu_plugin_udata_cb_t)(void *userdata);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(struct qemu_plugin_tb *tb, void *userdata);

/* As above. */
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void *userdata);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb_t cb,
				       void *userdata);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb,
				   void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb,
				    void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_vcpu_tb_trans_cb_t cb, void *userdata);
#endif

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      qemu_plugin_vcpu_mem_cb_t cb,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *userdata);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);

/* Copies up to len bytes of the instruction; returns how many (since version 3). */
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

/* An array of qemu_plugin_reg_descriptor; from a vCPU's init callback on. */
struct glib_array *qemu_plugin_get_registers(void);
/*
 * Appends a register of the vCPU that runs now to buf; nothing, if it cannot be read. What it
 * returns is left out, since it depends on QEMU: an int up to API version 5, a bool from 6 on.
 */
void qemu_plugin_read_register(struct qemu_plugin_register *handle, struct glib_array *buf);

/* Makes data hold the len bytes at the guest's virtual address; in a vCPU's callback (version 4). */
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct glib_array *data, size_t len);

/*
 * Since 9.1; weak, so that an older QEMU can be told of. The handle, or NULL when another
 * plugin has it. qemu_plugin_update_ns() is asynchronous: it ends the vCPU's turn.
 */
__attribute__((weak)) const void *qemu_plugin_request_time_control(void);
__attribute__((weak)) void qemu_plugin_update_ns(const void *handle, int64_t time);

/*
 * Not of the plugin interface, but of QEMU itself, which exports them where it is built with
 * modules, as Debian builds it: a vCPU's state, of which `env` (vcpu.h) is a part; end the turn of
 * the vCPU that runs, and do not begin one of any other before QEMU's timers have been looked at;
 * the same for one vCPU alone.
 */
struct qemu_cpu;
__attribute__((weak)) struct qemu_cpu *qemu_get_cpu(int index);
__attribute__((weak)) void qemu_cpu_kick(struct qemu_cpu *cpu);
__attribute__((weak)) void cpu_exit(struct qemu_cpu *cpu);

/* What an access of 8 bytes has loaded or stored, or of more; valid within its callback only. */
struct qemu_plugin_mem_value {
	int type;
	union {
		uint64_t u64;
		uint64_t u128[2];
	} data;
};
struct qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t info);

/* log2 of the access's size in bytes. */
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
/* Valid within a memory callback only; NULL when the address is not mapped. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *haddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *haddr);

#endif
