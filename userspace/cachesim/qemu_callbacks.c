// SPDX-License-Identifier: GPL-2.0
#include "qemu_callbacks.h"

#include <stddef.h>

static struct qemu_callbacks wanted;
static void (*vcpu_begun)(void);
static void (*reset_done)(void);

#if QEMU_PLUGIN_VERSION < 7

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	(void)vcpu;
	vcpu_begun();
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	wanted.translated(tb);
}

static void on_flush(qemu_plugin_id_t id)
{
	(void)id;
	wanted.flushed();
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *userdata)
{
	(void)id;
	(void)userdata;
	wanted.ended();
}

static void on_reset(qemu_plugin_id_t id)
{
	(void)id;
	reset_done();
}

void qemu_callbacks_at_vcpu(qemu_plugin_id_t id, void (*begun)(void))
{
	vcpu_begun = begun;
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
}

void qemu_callbacks_register(qemu_plugin_id_t id, const struct qemu_callbacks *callbacks)
{
	wanted = *callbacks;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_flush_cb(id, on_flush);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
}

void qemu_callbacks_reset(qemu_plugin_id_t id, void (*done)(void))
{
	reset_done = done;
	qemu_plugin_reset(id, on_reset);
}

#else

static void on_vcpu_init(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	vcpu_begun();
}

static void on_translation(struct qemu_plugin_tb *tb, void *userdata)
{
	(void)userdata;
	wanted.translated(tb);
}

static void on_flush(void *userdata)
{
	(void)userdata;
	wanted.flushed();
}

static void on_exit_of_qemu(void *userdata)
{
	(void)userdata;
	wanted.ended();
}

static void on_reset(void *userdata)
{
	(void)userdata;
	reset_done();
}

void qemu_callbacks_at_vcpu(qemu_plugin_id_t id, void (*begun)(void))
{
	vcpu_begun = begun;
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init, NULL);
}

void qemu_callbacks_register(qemu_plugin_id_t id, const struct qemu_callbacks *callbacks)
{
	wanted = *callbacks;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation, NULL);
	qemu_plugin_register_flush_cb(id, on_flush, NULL);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
}

void qemu_callbacks_reset(qemu_plugin_id_t id, void (*done)(void))
{
	reset_done = done;
	qemu_plugin_reset(id, on_reset, NULL);
}

#endif
