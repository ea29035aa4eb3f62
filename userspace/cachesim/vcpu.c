// SPDX-License-Identifier: GPL-2.0
#include "vcpu.h"

#include "cachesim.h"
#include "registers.h"

#define KERNEL_ADDRESS (1ull << 63)

static uint64_t identities[CACHESIM_MAX_CPUS];	/* by index; 0: not known */

uint64_t vcpu_identity(void)
{
	/* In the kernel it is in use, in a program set aside; a program's is no kernel address. */
	uint64_t base = register_read(REGISTER_GS_BASE);

	if (!(base & KERNEL_ADDRESS))
		base = register_read(REGISTER_K_GS_BASE);
	return base & KERNEL_ADDRESS ? base : 0;
}

bool vcpu_has_program_state(void)
{
	return !(register_read(REGISTER_GS_BASE) & KERNEL_ADDRESS);
}

void vcpu_learn(uint64_t identity, unsigned int index)
{
	identities[index] = identity;
}

int vcpu_index(uint64_t identity)
{
	for (unsigned int i = 0; identity && i < CACHESIM_MAX_CPUS; i++)
		if (identities[i] == identity)
			return i;
	return -1;
}
