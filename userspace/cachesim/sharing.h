/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines that move between CPUs, and whether they need to.
 *
 * A CPU that touches a line again after another CPU has written to it must fetch it anew: the
 * line *moves*. If the CPU then loses the line again without having touched a byte that another
 * CPU has written, it has fetched the line *in vain*: the two CPUs share the line, but no data.
 * That is false sharing.
 *
 *	CPU 0  writes a         (taken away)          writes a: a move, in vain if b is all that
 *	CPU 1           writes b                                CPU 1 has written
 *
 * Only lines that sharing_watch() names are watched, from then on. Lines are physical; their size
 * is a power of two. Not thread-safe.
 */
#ifndef SHARING_H
#define SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sharing;

/* An access: its CPU and instruction, and its address in a program or in the kernel. */
struct sharing_access {
	unsigned int cpu;
	bool store;
	uint64_t instruction;	/* its address */
	uint64_t space;		/* 0: the kernel's */
	uint64_t address;
};

/* Bytes of a line, both included. */
struct byte_range {
	unsigned int first, last;
};

/* A CPU's part in a line. */
struct line_user {
	uint64_t moves;		/* to this CPU */
	uint64_t in_vain;	/* moves that were in vain */
	uint64_t instruction;	/* the last one that fetched it in vain */
};

struct moved_line {
	uint64_t space;		/* its address space; 0: the kernel's */
	uint64_t address;	/* its begin there */
	uint64_t moves;		/* to all CPUs */
	uint64_t in_vain;
	uint64_t stall;		/* of all accesses to it, in the model's unit of time */
	struct line_user *users;	/* by CPU */
};

/* For lines of `line_bytes` bytes and `cpus` CPUs. NULL without memory. */
struct sharing *sharing_new(unsigned int line_bytes, unsigned int cpus);

/* `s` may be NULL. */
void sharing_free(struct sharing *s);

/* Forget everything. */
void sharing_begin(struct sharing *s);

/*
 * Watch the line of `physical` from now on; `access` gives its address. A program's address takes
 * precedence over the kernel's address of the same memory. Returns 0, or -1 without memory.
 */
int sharing_watch(struct sharing *s, uint64_t physical, const struct sharing_access *access);

/*
 * A load or store of `size` bytes, which lie in one line, has stalled its CPU for `stall`.
 * Ignored if the line is not watched.
 */
void sharing_touch(struct sharing *s, uint64_t physical, unsigned int size, uint64_t stall,
		   const struct sharing_access *access);

/*
 * The lines that have moved, by moves in vain, the most first; *n gets their number. A line that
 * a CPU holds now counts as fetched in vain if the CPU has touched no byte that another CPU had
 * written. The array belongs to `s`. NULL without memory.
 */
const struct moved_line *const *sharing_lines(struct sharing *s, size_t *n);

/*
 * The line's bytes that a CPU has loaded after it had fetched the line in vain; or, if `stored`,
 * that it has stored then, or by which it has made another CPU fetch it in vain. Up to `room`
 * ranges, in their order. Returns their number.
 */
size_t sharing_bytes(const struct sharing *s, const struct moved_line *line, unsigned int cpu,
		     bool stored, struct byte_range *ranges, size_t room);

#endif
