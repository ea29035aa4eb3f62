/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that grow. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <stdlib.h>

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

/*
 * Make room for one more element in `array`, which has `n` and room for `room`: moves it and
 * enlarges `room` if need be. False without memory; then nothing has changed.
 */
#define ARRAY_GROW(array, n, room) ({						\
	void *grown_ = array_grow(array, n, &(room), sizeof(*(array)));		\
										\
	if (grown_)								\
		(array) = grown_;						\
	grown_ != NULL;								\
})

#endif
