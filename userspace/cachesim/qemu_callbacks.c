// SPDX-License-Identifier: GPL-2.0
#include "qemu_callbacks.h"

#include <stddef.h>

/*
 * The parameters of QEMU's callbacks: up to version 6 of its API the plugin's id, or the id and an
 * event, from 7 on the event and userdata.
 */
#if QEMU_PLUGIN_VERSION < 7
#define CALLBACK(name) static void name(qemu_plugin_id_t id)
#define CALLBACK_OF(name, type, event) static void name(qemu_plugin_id_t id, type event)
#define UNUSED ((void)id)
#define REGISTER(function, id, callback) function(id, callback)
#else
#define CALLBACK(name) static void name(void *userdata)
#define CALLBACK_OF(name, type, event) static void name(type event, void *userdata)
#define UNUSED ((void)userdata)
#define REGISTER(function, id, callback) function(id, callback, NULL)
#endif

static const struct qemu_callbacks *wanted;
static qemu_plugin_id_t plugin;

CALLBACK_OF(on_vcpu_init, unsigned int, vcpu)
{
	UNUSED;
	(void)vcpu;
	wanted->vcpu_created();
}

CALLBACK_OF(on_translation, struct qemu_plugin_tb *, tb)
{
	UNUSED;
	wanted->translated(tb);
}

CALLBACK(on_flush)
{
	UNUSED;
	wanted->flushed();
}

#if QEMU_PLUGIN_VERSION < 7
static void on_exit_of_qemu(qemu_plugin_id_t id, void *userdata)
{
	(void)id;
	(void)userdata;
	wanted->ended();
}
#else
CALLBACK(on_exit_of_qemu)
{
	UNUSED;
	wanted->ended();
}
#endif

static void register_all(void)
{
	REGISTER(qemu_plugin_register_vcpu_tb_trans_cb, plugin, on_translation);
	REGISTER(qemu_plugin_register_flush_cb, plugin, on_flush);
	qemu_plugin_register_atexit_cb(plugin, on_exit_of_qemu, NULL);
}

/* QEMU has dropped the plugin's callbacks along with the translations. */
CALLBACK(on_reset)
{
	UNUSED;
	wanted->flushed();
	register_all();
}

void qemu_callbacks_register(qemu_plugin_id_t id, const struct qemu_callbacks *callbacks)
{
	plugin = id;
	wanted = callbacks;
	REGISTER(qemu_plugin_register_vcpu_init_cb, id, on_vcpu_init);
	register_all();
}

void qemu_callbacks_reset(void)
{
	REGISTER(qemu_plugin_reset, plugin, on_reset);
}
