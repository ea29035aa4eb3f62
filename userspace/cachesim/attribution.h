/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which instructions the model's counts come from.
 *
 * Whatever the model counts for a CPU between two looks at its counts is the doing of the
 * instruction that was executed meanwhile. So nothing is counted twice or left out: the sums over
 * all instructions are the model's own counts. A program's instructions are told apart by
 * address space; the kernel has one.
 *
 * Also watched is which lines move between CPUs, and which of them in vain (sharing.h).
 *
 *	attribution_begin()		all counts of the model are zero
 *	attribution_enter()		a block begins; the model has counted its instructions
 *	attribution_charge()		and then what one of them has fetched,
 *	attribution_access()		or loaded or stored
 *	attribution_format()
 *
 * Not thread-safe. Functions that return an int return 0, or -1 without memory.
 */
#ifndef ATTRIBUTION_H
#define ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cachesim.h"

struct attribution;

/* Instructions that are executed one after the other; each is known by its place, from 0. */
struct code;

/* What `model` counts; it must live longer. NULL without memory. */
struct attribution *attribution_new(const struct cachesim *model);

/* `a` may be NULL. */
void attribution_free(struct attribution *a);

/* Forget all counts. Code stays. */
void attribution_begin(struct attribution *a);

/*
 * Code of at most `n` instructions, to be added in their order. It lives as long as `a`. NULL
 * without memory.
 */
struct code *attribution_code(struct attribution *a, enum cachesim_mode mode, size_t n);
void attribution_add(struct code *code, uint64_t address);

/* Where it begins; something has been added. */
uint64_t attribution_address(const struct code *code);

/*
 * `cpu` executes the code in this address space, which is 0 but for a program's; the model has
 * counted its instructions and nothing since.
 */
int attribution_enter(struct attribution *a, unsigned int cpu, struct code *code, uint64_t space);

/*
 * The model has counted what the CPU has fetched for the instruction at this place of the code that
 * it has entered last. Before any, it is left for the next one.
 */
void attribution_charge(struct attribution *a, unsigned int cpu, size_t place);

/* The same of what it has loaded or stored: `size` bytes at this address, which lie in one page. */
int attribution_access(struct attribution *a, unsigned int cpu, size_t place, uint64_t address,
		       uint64_t physical, unsigned int size, bool store);

/*
 * All of it as a line of JSON (Documentation/attribution.rst), to be freed; *length gets
 * its length. `program` is the address space whose code is the program's; `per_cpu` is told as it
 * is, a number for each CPU (vcpu_bases()). NULL without memory.
 */
char *attribution_format(struct attribution *a, uint64_t program, const uint64_t *per_cpu,
			 size_t *length);

#endif
