// SPDX-License-Identifier: GPL-2.0
#include "registers.h"

#include <stddef.h>
#include <string.h>

#include "qemu_plugin_api.h"

static const char *const names[REGISTERS] = {
	[REGISTER_GS_BASE] = "gs_base",
	[REGISTER_K_GS_BASE] = "k_gs_base",
	[REGISTER_FS_BASE] = "fs_base",
	[REGISTER_CR3] = "cr3",
	[REGISTER_RAX] = "rax",
	[REGISTER_RDI] = "rdi",
	[REGISTER_RSI] = "rsi",
	[REGISTER_RDX] = "rdx",
	[REGISTER_RSP] = "rsp",
	[REGISTER_RBP] = "rbp",
};

static struct {
	struct qemu_plugin_register *handles[REGISTERS];
	struct glib_array *buffer;
} registers;

const char *registers_find(void)
{
	struct glib_array *offered = qemu_plugin_get_registers();
	const qemu_plugin_reg_descriptor *r = offered->data;

	registers.buffer = g_byte_array_new();
	for (unsigned int name = 0; name < REGISTERS; name++) {
		registers.handles[name] = NULL;
		for (unsigned int i = 0; i < offered->len; i++)
			if (!strcmp(r[i].name, names[name]))
				registers.handles[name] = r[i].handle;
		if (!registers.handles[name])
			return names[name];
	}
	return NULL;
}

uint64_t register_read(enum register_name name)
{
	uint64_t value = 0;
	int size;

	registers.buffer->len = 0;
	size = qemu_plugin_read_register(registers.handles[name], registers.buffer);
	if (size > 0)
		memcpy(&value, registers.buffer->data,
		       (size_t)size < sizeof(value) ? (size_t)size : sizeof(value));
	return value;
}

bool memory_read(uint64_t vaddr, void *to, unsigned int size)
{
	if (!qemu_plugin_read_memory_vaddr(vaddr, registers.buffer, size))
		return false;
	memcpy(to, registers.buffer->data, size);
	return true;
}
