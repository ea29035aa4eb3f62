/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that grow. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Make room for one element more of `size` bytes in an array that has `n`, in room for
 * *room. Returns the array, or NULL without memory: then the old one is as it was.
 */
static inline void *array_grow(void *array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 16;
	void *grown;

	if (n < *room)
		return array;
	grown = realloc(array, more * size);
	if (grown)
		*room = more;
	return grown;
}

#endif
