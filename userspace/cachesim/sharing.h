/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines that move between CPUs, and whether they need to.
 *
 * A CPU that touches a line again after another has written to it must fetch it anew: the
 * line *moves*. If it then touches none of the bytes that others have written before they take
 * the line away again, it has fetched it *in vain*: the two CPUs share the line, but no data.
 * That is false sharing.
 *
 *	CPU 0  writes a         (taken away)          writes a: a move, in vain if b is all that
 *	CPU 1           writes b                                CPU 1 has written
 *
 * Only lines that sharing_watch() names are looked at, and from then on. Lines are physical, a
 * power of two of bytes. Not thread-safe.
 */
#ifndef SHARING_H
#define SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sharing;

/* Who makes an access, and to which of the program's or the kernel's addresses. */
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
	uint64_t moves;		/* to it */
	uint64_t in_vain;	/* of these */
	uint64_t instruction;	/* that has fetched it in vain last */
};

struct moved_line {
	uint64_t space;		/* its name: 0 is the kernel's, */
	uint64_t address;	/* and its begin there */
	uint64_t moves;		/* to all CPUs */
	uint64_t in_vain;
	uint64_t stall;		/* of all accesses to it, in the model's unit of time */
	struct line_user *users;	/* by CPU */
};

/* Of lines of `line_bytes` bytes, between `cpus` CPUs. NULL without memory. */
struct sharing *sharing_new(unsigned int line_bytes, unsigned int cpus);

/* `s` may be NULL. */
void sharing_free(struct sharing *s);

/* Forget everything. */
void sharing_begin(struct sharing *s);

/*
 * Look at the line of `physical` from now on; `access` gives its name. A program's own name for it
 * goes before the kernel's for the same memory. Returns 0, or -1 without memory.
 */
int sharing_watch(struct sharing *s, uint64_t physical, const struct sharing_access *access);

/*
 * `size` bytes, which lie in one line, are loaded or stored, and took so much time. Nothing happens
 * if the line is not watched.
 */
void sharing_touch(struct sharing *s, uint64_t physical, unsigned int size, uint64_t stall,
		   const struct sharing_access *access);

/*
 * The lines that have moved, those with most moves in vain first; *n gets their number. What a CPU
 * holds now counts as fetched in vain if it has touched nothing of what others had written. Belongs
 * to `s`. NULL without memory.
 */
const struct moved_line *const *sharing_lines(struct sharing *s, size_t *n);

/*
 * Which of the line's bytes a CPU has loaded when it had fetched it in vain; or which it has
 * stored then, or when it made another CPU do so. Up to `room` ranges, in their order. Returns how
 * many.
 */
size_t sharing_bytes(const struct sharing *s, const struct moved_line *line, unsigned int cpu,
		     bool stored, struct byte_range *ranges, size_t room);

#endif
