// SPDX-License-Identifier: GPL-2.0
#include "instructions.h"

#include <stddef.h>
#include <string.h>

#include "cachesim.h"

/* The guest kernel's text and data, mapped linearly from physical address 0 (nokaslr). */
#define KERNEL_MAP_START 0xffffffff80000000ull
#define KERNEL_MAP_END 0xffffffffa0000000ull

#define RAM_END (3ull << 30)
#define NOT_RAM (1ull << (CACHESIM_PHYS_BITS - 1))

static uintptr_t ram_base;	/* host address of guest physical 0; 0: unknown */

static bool is(const struct qemu_plugin_insn *insn, const uint8_t *expected, size_t size)
{
	uint8_t bytes[3];

	return qemu_plugin_insn_size(insn) == size && size <= sizeof(bytes) &&
	       qemu_plugin_insn_data(insn, bytes, size) == size && !memcmp(bytes, expected, size);
}

#define IS(insn, ...) is(insn, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

bool instruction_is_pause(const struct qemu_plugin_insn *insn)
{
	return IS(insn, 0xf3, 0x90);
}

/* rdtsc, rdtscp */
bool instruction_reads_tsc(const struct qemu_plugin_insn *insn)
{
	return IS(insn, 0x0f, 0x31) || IS(insn, 0x0f, 0x01, 0xf9);
}

/* syscall */
bool instruction_enters_kernel(const struct qemu_plugin_insn *insn)
{
	return !(qemu_plugin_insn_vaddr(insn) >> 63) && IS(insn, 0x0f, 0x05);
}

/* sysretq, iretq */
bool instruction_leaves_kernel(const struct qemu_plugin_insn *insn)
{
	return qemu_plugin_insn_vaddr(insn) >> 63 &&
	       (IS(insn, 0x48, 0x0f, 0x07) || IS(insn, 0x48, 0xcf));
}

/* mov to a control register; invlpg; invpcid: with or without a REX. */
bool instruction_changes_pages(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[5] = { 0 }, *opcode = bytes;

	qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	if (*opcode == 0x66)
		opcode++;
	if ((*opcode & 0xf0) == 0x40)
		opcode++;
	if (opcode[0] != 0x0f)
		return false;
	return opcode[1] == 0x22 ||
	       (opcode[1] == 0x01 && opcode[2] >> 6 != 3 && (opcode[2] >> 3 & 7) == 7) ||
	       (opcode[1] == 0x38 && opcode[2] == 0x82);
}

/* fxsave, fxrstor, xsave, xrstor, xsaveopt; xrstors, xsavec, xsaves: by the bytes behind a REX. */
bool instruction_moves_state(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[4] = { 0 }, *opcode = bytes;
	unsigned int operation;

	qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	if ((*opcode & 0xf0) == 0x40)
		opcode++;
	operation = opcode[2] >> 3 & 7;
	if (opcode[0] != 0x0f || opcode[2] >> 6 == 3)
		return false;
	return opcode[1] == 0xae ? operation < 2 || (operation >= 4 && operation <= 6) :
	       opcode[1] == 0xc7 ? operation >= 3 && operation <= 5 : false;
}

/* Of segments, sizes, and repetition; LOCK is another. */
static bool is_prefix(uint8_t byte)
{
	return (byte & 0xe7) == 0x26 || (byte >= 0x64 && byte <= 0x67) || (byte & 0xfe) == 0xf2;
}

bool instruction_is_locked(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[15] = { 0 }, *opcode = bytes;

	qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	while (opcode < bytes + sizeof(bytes) - 3 && is_prefix(*opcode))
		opcode++;
	if (*opcode == 0xf0)
		return true;
	if ((*opcode & 0xf0) == 0x40)
		opcode++;
	return (opcode[0] & 0xfe) == 0x86 && opcode[1] >> 6 != 3;
}

uint64_t instruction_address(const struct qemu_plugin_insn *insn)
{
	uintptr_t haddr = (uintptr_t)qemu_plugin_insn_haddr(insn);

	if (haddr && ram_base && haddr - ram_base < RAM_END)
		return haddr - ram_base;
	return NOT_RAM | (qemu_plugin_insn_vaddr(insn) & (NOT_RAM - 1));
}

void guest_ram_forget(void)
{
	ram_base = 0;
}

void guest_ram_learn(const struct qemu_plugin_insn *insn)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
	uintptr_t haddr = (uintptr_t)qemu_plugin_insn_haddr(insn);

	if (!ram_base && haddr && vaddr >= KERNEL_MAP_START && vaddr < KERNEL_MAP_END)
		ram_base = haddr - (vaddr - KERNEL_MAP_START);
}

void *guest_kernel_data(uint64_t vaddr)
{
	return ram_base ? (void *)(ram_base + (vaddr - KERNEL_MAP_START)) : NULL;
}
