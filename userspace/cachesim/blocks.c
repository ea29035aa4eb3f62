// SPDX-License-Identifier: GPL-2.0
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

#include "attributing.h"
#include "burner.h"
#include "guest_kernel.h"
#include "instructions.h"
#include "simulation.h"

static struct block *all;

struct block *block_last[CACHESIM_MAX_CPUS][2];
uint64_t block_locked[CACHESIM_MAX_CPUS];

static bool is_burner(const struct qemu_plugin_insn *first)
{
	return instruction_address(first) - BURNER_PAGE < BURNER_SIZE;
}

static enum cachesim_mode mode_of(uint64_t vaddr)
{
	return vaddr >= kernel_address(IDLE_START) && vaddr < kernel_address(IDLE_END) ?
		CACHESIM_IDLE : vaddr >> 63 ? CACHESIM_KERNEL : CACHESIM_USER;
}

static unsigned int charge_of(uint64_t vaddr)
{
	return vaddr == kernel_address(IDLE_EXIT) ? sim.options.machine.wakeup :
	       vaddr == kernel_address(INTERRUPT_ARRIVES) ? sim.options.machine.interrupt : 0;
}

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		die("translation", "out of memory; give the host more and run again");
	return memory;
}

struct block *block_new(const struct qemu_plugin_insn *first,
			const struct qemu_plugin_insn *last, size_t n)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(first);
	uint64_t bytes = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last) - vaddr;
	/* Two more than fit in full, one for where it is cut by a page. */
	size_t lines = (bytes >> cachesim_fetch_shift(sim.model)) + 3;
	struct block *b = allocate(sizeof(*b) + lines * sizeof(b->lines[0]));

	*b = (struct block){
		.next = all,
		.mode = mode_of(vaddr),
		.burner = is_burner(first),
		.allocator = attributing_allocator(first),
		.charge = charge_of(vaddr),
	};
	if (!b->burner)
		b->code = attributing_code(b->mode, n);
	if (b->code)
		b->fetch = allocate(lines * sizeof(*b->fetch));
	all = b;
	return b;
}

static void add_line(struct block *b, uint64_t address)
{
	uint64_t line = address >> cachesim_fetch_shift(sim.model);

	if (b->n_lines && b->lines[b->n_lines - 1] == line)
		return;
	if (b->fetch)
		b->fetch[b->n_lines] = b->instructions;
	b->lines[b->n_lines++] = line;
}

void block_add(struct block *b, const struct qemu_plugin_insn *insn)
{
	uint64_t first = instruction_address(insn);
	size_t size = qemu_plugin_insn_size(insn);
	uint64_t in_page = first & (GUEST_PAGE - 1);

	add_line(b, first);
	/* The next instruction adds a tail in another page: QEMU gives no address for it. */
	if (in_page + size <= GUEST_PAGE)
		add_line(b, first + size - 1);
	if (b->code)
		attribution_add(b->code, qemu_plugin_insn_vaddr(insn));
	b->reads_tsc = instruction_reads_tsc(insn);
	b->locked |= b->mode == CACHESIM_USER && instruction_is_locked(insn);
	b->instructions++;
}

void blocks_free(void)
{
	memset(block_last, 0, sizeof(block_last));
	while (all) {
		struct block *b = all;

		all = b->next;
		free(b->fetch);
		free(b);
	}
}
