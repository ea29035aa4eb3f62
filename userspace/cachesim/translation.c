// SPDX-License-Identifier: GPL-2.0
#include "translation.h"

#include "accesses.h"
#include "blocks.h"
#include "execution.h"
#include "guest_kernel.h"
#include "guest_time.h"
#include "pages.h"
#include "instructions.h"
#include "region.h"
#include "simulation.h"
#include "system_calls.h"

static void watch_markers(struct qemu_plugin_tb *tb, size_t n)
{
	guest_ram_learn(qemu_plugin_tb_get_insn(tb, 0));
	for (size_t i = 0; i < n; i++)
		region_watch(qemu_plugin_tb_get_insn(tb, i));
}

/*
 * One callback per block: a translation block, or, where a marker stands in it,
 * the parts up to the marker and after it, so that counting starts and stops at
 * the marker itself.
 */
static struct block *block_from(struct qemu_plugin_tb *tb, size_t first, size_t n)
{
	struct block *b = block_new(qemu_plugin_tb_get_insn(tb, first),
				    qemu_plugin_tb_get_insn(tb, n - 1), n - first);

	for (size_t i = first; i < n; i++) {
		const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		block_add(b, insn);
		if (region_has_marker(insn))
			break;
	}
	return b;
}

static void watch_everything(struct qemu_plugin_tb *tb, size_t n)
{
	struct block *b = NULL;
	size_t first = 0;

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (!b) {
			b = block_from(tb, i, n);
			first = i;
			execution_watch(insn, b);
		}
		accesses_watch(insn, b, i - first);
		if (instruction_is_pause(insn))
			execution_watch_pause(insn, i - first);
		if (instruction_reads_tsc(insn))
			guest_time_watch(insn);
		system_calls_watch(insn);
		guest_kernel_watch(insn);
		pages_watch(insn);
		if (region_watch(insn))
			b = NULL;
	}
}

void translation_made(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (sim.state == OUTSIDE)
		watch_markers(tb, n);
	else
		watch_everything(tb, n);
}
