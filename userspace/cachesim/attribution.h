/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which instructions the model's counts come from.
 *
 * What the model counts for a CPU between two looks at its counts belongs to the instruction that
 * the CPU executed meanwhile. So nothing is counted twice or left out: the sums over all
 * instructions are the model's own counts. Programs are distinguished by address space; the
 * kernel has one.
 *
 * Lines that move between CPUs are watched, too (sharing.h).
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
 * The model has counted what the CPU fetched for the instruction at this place of the code that it
 * entered last. If it has entered none, the next instruction gets these counts.
 */
void attribution_charge(struct attribution *a, unsigned int cpu, size_t place);

/* The same for a load or store of `size` bytes at this address, which lie in one page. */
int attribution_access(struct attribution *a, unsigned int cpu, size_t place, uint64_t address,
		       uint64_t physical, unsigned int size, bool store);

/*
 * The result as a line of JSON (Documentation/attribution.rst), to be freed; *length gets its
 * length. `program` is the address space of the program; `per_cpu`, a number for each CPU
 * (vcpu_bases()), is copied into the result. NULL without memory.
 */
char *attribution_format(struct attribution *a, uint64_t program, const uint64_t *per_cpu,
			 size_t *length);

#endif
