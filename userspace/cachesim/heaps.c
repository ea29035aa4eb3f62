// SPDX-License-Identifier: GPL-2.0
#include "heaps.h"

#include <stdlib.h>

#include "array.h"

#define SYS_BRK 12	/* of the guest, an x86-64 */

struct heap {
	uint64_t space, begin;
	bool asked;		/* the answer is on its way; a program begins with one thread */
};

struct heaps {
	struct heap *all;
	size_t n, room;
	unsigned int asked;
};

struct heaps *heaps_new(void)
{
	return calloc(1, sizeof(struct heaps));
}

void heaps_free(struct heaps *h)
{
	free(h->all);
	free(h);
}

static struct heap *heap_of(const struct heaps *h, uint64_t space)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->all[i].space == space)
			return &h->all[i];
	return NULL;
}

bool heaps_is_asked(uint64_t number, uint64_t argument)
{
	return number == SYS_BRK && !argument;
}

int heaps_call(struct heaps *h, uint64_t space, uint64_t number, uint64_t argument)
{
	struct heap *heap;

	if (!heaps_is_asked(number, argument))
		return 0;
	heap = heap_of(h, space);
	if (!heap) {
		if (!ARRAY_GROW(h->all, h->n, h->room))
			return -1;
		heap = &h->all[h->n++];
		*heap = (struct heap){ .space = space };
	}
	h->asked += !heap->asked;
	heap->asked = true;
	return 0;
}

void heaps_return(struct heaps *h, uint64_t space, uint64_t result)
{
	struct heap *heap = h->asked ? heap_of(h, space) : NULL;

	if (!heap || !heap->asked)
		return;
	heap->begin = result;
	heap->asked = false;
	h->asked--;
}

bool heaps_expects_return(const struct heaps *h)
{
	return h->asked;
}

uint64_t heaps_begin_of(const struct heaps *h, uint64_t space)
{
	const struct heap *heap = heap_of(h, space);

	return heap ? heap->begin : 0;
}
