/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registers of the vCPU that runs now, and memory as it sees it. To be read from callbacks
 * that are registered with QEMU_PLUGIN_CB_R_REGS, and the registers where QEMU translates.
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum register_name {
	REGISTER_GS_BASE,
	REGISTER_K_GS_BASE,	/* what swapgs exchanges it with */
	REGISTER_FS_BASE,
	REGISTER_CR3,
	REGISTER_RAX,
	REGISTER_RDI,
	REGISTER_RSI,
	REGISTER_RDX,
	REGISTER_RSP,
	REGISTER_RBP,
	REGISTERS
};

/*
 * Find them; call it from a vCPU's init callback. Returns NULL, or the name of one
 * that this QEMU does not have.
 */
const char *registers_find(void);

uint64_t register_read(enum register_name name);

/* The address space that the vCPU executes in: the address of its page table. */
uint64_t address_space(void);

/* Read `size` bytes at the virtual address. Returns false unless all of them are mapped. */
bool memory_read(uint64_t vaddr, void *to, unsigned int size);

#endif
