/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that allocate memory, such as malloc(). Where code is translated, the offset in its
 * page and its first bytes tell such a function, wherever in a program's memory its library lies.
 *
 * A file lists the functions, one a line: name, address in the library's file, and first bytes,
 * both in hexadecimal. The bytes of a function lie in one page.
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

/* The function that begins at this address of a program; `code` is there, up to the page's end. */
enum allocator allocators_at(const struct allocators *a, uint64_t address, const uint8_t *code);

#endif
