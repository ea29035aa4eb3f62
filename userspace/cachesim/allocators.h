/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions by which programs get memory, malloc() and its like, and how to know them where code
 * is translated: by where in a page they begin, and by their first bytes. So nobody needs to know
 * where in a program's memory a library lies.
 *
 * They are told by a file, a line for each function: its name, its address in its own file, and its
 * first bytes, both in hexadecimal. No function's bytes may lie in two pages.
 */
#ifndef ALLOCATORS_H
#define ALLOCATORS_H

#include <stddef.h>
#include <stdint.h>

enum allocator {
	ALLOCATOR_NONE,
	ALLOCATOR_MALLOC,
	ALLOCATOR_CALLOC,
	ALLOCATOR_REALLOC,
	ALLOCATOR_ALIGNED_ALLOC,
	ALLOCATOR_POSIX_MEMALIGN,
	ALLOCATOR_FREE,
};

struct allocators;

/* Read the file. NULL with a message for the user in `error` (cut to `size`). */
struct allocators *allocators_read(const char *path, char *error, size_t size);

/* `a` may be NULL. */
void allocators_free(struct allocators *a);

/* Which of them begins at this address of a program; `code` is what lies there, up to the page's end. */
enum allocator allocators_at(const struct allocators *a, uint64_t address, const uint8_t *code);

#endif
