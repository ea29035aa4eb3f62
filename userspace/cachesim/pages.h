/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of virtual memory that CPUs have accessed last, and where they are in physical memory: as a
 * TLB has it. A CPU forgets its pages when it executes an instruction after which a TLB may not
 * know them: before that, the guest does not rely on a change of its page tables.
 */
#ifndef CACHESIM_PAGES_H
#define CACHESIM_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu_plugin_api.h"
#include "simulation.h"

#define PAGES 128u	/* of a CPU, for each kind of access */
#define PAGE_UNKNOWN UINT64_MAX

struct page {
	uint64_t number;	/* virtual; or PAGE_UNKNOWN */
	uint64_t start;		/* physical */
};

/* Loads and stores are told apart: a page may be memory for one of them only. */
PLUGIN_STATE struct page pages[CACHESIM_MAX_CPUS][2][PAGES];

/* No CPU knows a page. */
void pages_reset(void);

/* If the instruction may change what its CPU knows, have QEMU report its executions. */
void pages_watch(struct qemu_plugin_insn *insn);

/* The place of the page in what the CPU knows; another page may be there. */
static inline struct page *page_of(unsigned int cpu, uint64_t vaddr, bool store)
{
	return &pages[cpu][store][vaddr / GUEST_PAGE % PAGES];
}

#endif
