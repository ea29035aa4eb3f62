// SPDX-License-Identifier: GPL-2.0
#include "pages.h"

#include <string.h>

#include "instructions.h"
#include "vcpu.h"

_Static_assert(PAGE_UNKNOWN == ~0ull, "memset() makes pages unknown");

struct page pages[CACHESIM_MAX_CPUS][2][PAGES];

void pages_reset(void)
{
	memset(pages, 0xff, sizeof(pages));
}

/* Right before the instruction, which accesses no memory. The burner has no pages. */
static void on_change(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	memset(pages[vcpu.number], 0xff, sizeof(pages[0]));
}

void pages_watch(struct qemu_plugin_insn *insn)
{
	if (instruction_changes_pages(insn))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_change, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
}
