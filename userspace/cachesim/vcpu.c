// SPDX-License-Identifier: GPL-2.0
#include "vcpu.h"

#include <string.h>

#include "cachesim.h"
#include "qemu_plugin_api.h"
#include "registers.h"

#define KERNEL_ADDRESS (1ull << 63)

static uint64_t bases[CACHESIM_MAX_CPUS];	/* by CPU */
static unsigned int known;

bool vcpu_learn(uint64_t table, unsigned int cpus)
{
	struct glib_array *bytes = g_byte_array_new();
	bool read = qemu_plugin_read_memory_vaddr(table, bytes, cpus * sizeof(bases[0]));

	known = read ? cpus : 0;
	memcpy(bases, bytes->data, known * sizeof(bases[0]));
	g_byte_array_unref(bytes);
	return read;
}

int vcpu_current(void)
{
	/* In the kernel it is in use, in a program set aside; a program's is no kernel address. */
	uint64_t base = register_read(REGISTER_GS_BASE);

	if (!(base & KERNEL_ADDRESS))
		base = register_read(REGISTER_K_GS_BASE);
	for (unsigned int cpu = 0; cpu < known; cpu++)
		if (bases[cpu] == base)
			return cpu;
	return -1;
}

const uint64_t *vcpu_bases(void)
{
	return bases;
}

bool vcpu_has_program_state(void)
{
	return !(register_read(REGISTER_GS_BASE) & KERNEL_ADDRESS);
}
