// SPDX-License-Identifier: GPL-2.0
#include "vcpu.h"

#include <string.h>

#include "cachesim.h"
#include "qemu_plugin_api.h"

#define KERNEL_ADDRESS (1ull << 63)

static struct {
	struct qemu_plugin_register *gs_base;
	struct qemu_plugin_register *k_gs_base;	/* what swapgs exchanges it with */
	struct glib_array *buffer;
	uint64_t identity[CACHESIM_MAX_CPUS];	/* by index; 0: not known */
} vcpu;

bool vcpu_find_registers(void)
{
	struct glib_array *registers = qemu_plugin_get_registers();
	const qemu_plugin_reg_descriptor *r = registers->data;

	for (unsigned int i = 0; i < registers->len; i++) {
		if (!strcmp(r[i].name, "gs_base"))
			vcpu.gs_base = r[i].handle;
		if (!strcmp(r[i].name, "k_gs_base"))
			vcpu.k_gs_base = r[i].handle;
	}
	vcpu.buffer = g_byte_array_new();
	return vcpu.gs_base && vcpu.k_gs_base;
}

static uint64_t read_register(struct qemu_plugin_register *handle)
{
	uint64_t value = 0;
	int size;

	vcpu.buffer->len = 0;
	size = qemu_plugin_read_register(handle, vcpu.buffer);
	if (size > 0)
		memcpy(&value, vcpu.buffer->data, (size_t)size < sizeof(value) ? (size_t)size
									       : sizeof(value));
	return value;
}

uint64_t vcpu_identity(void)
{
	/* In the kernel it is in use, in a program set aside; a program's is no kernel address. */
	uint64_t base = read_register(vcpu.gs_base);

	if (!(base & KERNEL_ADDRESS))
		base = read_register(vcpu.k_gs_base);
	return base & KERNEL_ADDRESS ? base : 0;
}

void vcpu_learn(uint64_t identity, unsigned int index)
{
	vcpu.identity[index] = identity;
}

int vcpu_index(uint64_t identity)
{
	for (unsigned int i = 0; identity && i < CACHESIM_MAX_CPUS; i++)
		if (vcpu.identity[i] == identity)
			return i;
	return -1;
}
