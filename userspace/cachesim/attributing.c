// SPDX-License-Identifier: GPL-2.0
#include "attributing.h"

#include <stdio.h>
#include <string.h>

#include "blocks.h"
#include "registers.h"
#include "vcpu.h"

struct attributing attributing;

int attributing_open(char *error, size_t size)
{
	if (!sim.options.attribute)
		return 0;
	attributing.attribution = attribution_new(sim.model);
	if (!attributing.attribution) {
		snprintf(error, size, "out of memory");
		return -1;
	}
	if (!sim.options.allocators)
		return 0;
	attributing.allocators = allocators_read(sim.options.allocators, error, size);
	return attributing.allocators ? 0 : -1;
}

void attributing_close(void)
{
	attribution_free(attributing.attribution);
	allocators_free(attributing.allocators);
	attributing.attribution = NULL;
	attributing.allocators = NULL;
}

void attributing_begin(void)
{
	if (attributing.attribution)
		attribution_begin(attributing.attribution);
	memset(attributing.spaces, 0, sizeof(attributing.spaces));
}

struct code *attributing_code(enum cachesim_mode mode, size_t n)
{
	struct code *code;

	if (!attributing.attribution)
		return NULL;
	code = attribution_code(attributing.attribution, mode, n);
	if (!code)
		die_without_memory();
	return code;
}

enum allocator attributing_allocator(const struct qemu_plugin_insn *first)
{
	const uint8_t *code = qemu_plugin_insn_haddr(first);

	if (!attributing.allocators || !code)
		return ALLOCATOR_NONE;
	return allocators_at(attributing.allocators, qemu_plugin_insn_vaddr(first), code);
}

/* The address space that the CPU executes in. It stays the same until the CPU enters the kernel. */
static uint64_t space_of(const struct block *b)
{
	uint64_t *space = &attributing.spaces[vcpu.number];

	if (b->mode != CACHESIM_USER)
		*space = 0;
	else if (!*space)
		*space = address_space();
	return *space;
}

/* Line by line, with the same effect on the model as cachesim_execute() of the whole block. */
void attributing_execute(const struct block *b)
{
	cachesim_execute(sim.model, vcpu.number, b->mode, b->instructions, NULL, 0);
	if (attribution_enter(attributing.attribution, vcpu.number, b->code, space_of(b)))
		die_without_memory();
	for (unsigned int i = 0; i < b->n_lines; i++) {
		cachesim_execute(sim.model, vcpu.number, b->mode, 0, &b->lines[i], 1);
		attribution_charge(attributing.attribution, vcpu.number, b->fetch[i]);
	}
}

void attributing_spend(unsigned int cycles, size_t place)
{
	cachesim_spend(sim.model, vcpu.number, cycles);
	if (attributing.attribution && sim.state == COUNTING)
		attribution_charge(attributing.attribution, vcpu.number, place);
}
