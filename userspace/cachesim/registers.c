// SPDX-License-Identifier: GPL-2.0
#include "registers.h"

#include <stddef.h>
#include <string.h>

#include "qemu_plugin_api.h"

/* Bits of cr3 that are the page table's address. */
#define PAGE_TABLE_MASK 0x000ffffffffff000ull

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

static const qemu_plugin_reg_descriptor *find(struct glib_array *offered, const char *name)
{
	const char *at = offered->data;

	for (unsigned int i = 0; i < offered->len; i++, at += g_array_get_element_size(offered)) {
		const qemu_plugin_reg_descriptor *descriptor = (const void *)at;

		if (!strcmp(descriptor->name, name))
			return descriptor;
	}
	return NULL;
}

const char *registers_find(void)
{
	struct glib_array *offered = qemu_plugin_get_registers();

	registers.buffer = g_byte_array_new();
	for (unsigned int name = 0; name < REGISTERS; name++) {
		const qemu_plugin_reg_descriptor *found = find(offered, names[name]);

		if (!found)
			return names[name];
		registers.handles[name] = found->handle;
	}
	return NULL;
}

uint64_t register_read(enum register_name name)
{
	uint64_t value = 0;
	size_t size;

	registers.buffer->len = 0;
	qemu_plugin_read_register(registers.handles[name], registers.buffer);
	size = registers.buffer->len;
	memcpy(&value, registers.buffer->data, size < sizeof(value) ? size : sizeof(value));
	return value;
}

uint64_t address_space(void)
{
	return register_read(REGISTER_CR3) & PAGE_TABLE_MASK;
}

bool memory_read(uint64_t vaddr, void *to, unsigned int size)
{
	if (!qemu_plugin_read_memory_vaddr(vaddr, registers.buffer, size))
		return false;
	memcpy(to, registers.buffer->data, size);
	return true;
}
