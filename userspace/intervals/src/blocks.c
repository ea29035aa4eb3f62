// SPDX-License-Identifier: LGPL-2.1-or-later
#include "blocks.h"

#include <string.h>

#include "place.h"
#include "tunables.h"

/* AddressSanitizer reports each use of a free block, except of the links here. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define IVL_POISON
#endif
#endif
#if defined(IVL_POISON) || defined(__SANITIZE_ADDRESS__)
void __asan_poison_memory_region(void const volatile *memory, size_t bytes);
void __asan_unpoison_memory_region(void const volatile *memory, size_t bytes);
#else
#define __asan_poison_memory_region(memory, bytes) ((void)(memory), (void)(bytes))
#define __asan_unpoison_memory_region(memory, bytes) ((void)(memory), (void)(bytes))
#endif

struct ivl_block {
	struct ivl_block *next;
	struct ivl_block *other;	/* in the first of a magazine: the next magazine */
};

struct ivl_slab {
	struct ivl_slab *next;
	int node;
	_Alignas(64) char blocks[];
};

void ivl_depot_init(struct ivl_depot *depot, size_t block_bytes)
{
	memset(depot, 0, sizeof(*depot));
	depot->block_bytes = block_bytes;
	pthread_mutex_init(&depot->lock, NULL);
}

void ivl_depot_destroy(struct ivl_depot *depot)
{
	struct ivl_slab *slab = depot->slabs;

	while (slab) {
		struct ivl_slab *next = slab->next;

		__asan_unpoison_memory_region(slab, IVL_SLAB_BYTES);
		ivl_node_free(slab, IVL_SLAB_BYTES, slab->node);
		slab = next;
	}
	pthread_mutex_destroy(&depot->lock);
}

static void poison(struct ivl_depot *depot, struct ivl_block *block)
{
	__asan_poison_memory_region(block + 1, depot->block_bytes - sizeof(*block));
}

/* Cut a new slab into full magazines, the last maybe partial. The depot's lock is held. */
static void fill(struct ivl_depot *depot, int node)
{
	struct ivl_slab *slab = ivl_node_alloc(IVL_SLAB_BYTES, node);
	struct ivl_block *first = NULL;
	unsigned int count = 0;
	size_t at;

	if (!slab)
		return;
	memset(slab, 0, IVL_SLAB_BYTES);
	slab->node = node;
	slab->next = depot->slabs;
	depot->slabs = slab;
	for (at = sizeof(*slab); at + depot->block_bytes <= IVL_SLAB_BYTES;
	     at += depot->block_bytes) {
		struct ivl_block *block = (struct ivl_block *)((char *)slab + at);

		block->next = first;
		first = block;
		poison(depot, block);
		if (++count == IVL_MAGAZINE) {
			first->other = depot->full;
			depot->full = first;
			first = NULL;
			count = 0;
		}
	}
	if (first) {
		first->other = depot->full;
		depot->full = first;
	}
}

static struct ivl_block *get_magazine(struct ivl_depot *depot, int node)
{
	struct ivl_block *magazine;

	if (!depot->full)
		fill(depot, node);
	magazine = depot->full;
	if (magazine)
		depot->full = magazine->other;
	return magazine;
}

static void put_magazine(struct ivl_depot *depot, struct ivl_block *magazine)
{
	magazine->other = depot->full;
	depot->full = magazine;
}

static struct ivl_block *pop(struct ivl_depot *depot, struct ivl_magazines *own)
{
	struct ivl_block *block = own->free;

	if (block) {
		own->free = block->next;
		/* A partial magazine is counted as full: its owner only fills it sooner. */
		own->count--;
		__asan_unpoison_memory_region(block, depot->block_bytes);
	}
	return block;
}

void *ivl_block_get(struct ivl_depot *depot, struct ivl_magazines *own, int node)
{
	struct ivl_magazines *from = own ? own : &depot->loose;
	struct ivl_block *block;

	if (own && own->free)
		return pop(depot, own);
	if (own && own->full) {
		own->free = own->full;
		own->full = NULL;
		own->count = IVL_MAGAZINE;
		return pop(depot, own);
	}
	pthread_mutex_lock(&depot->lock);
	if (!from->free) {
		from->free = get_magazine(depot, node);
		from->count = IVL_MAGAZINE;
	}
	block = pop(depot, from);
	pthread_mutex_unlock(&depot->lock);
	return block;
}

static void push(struct ivl_depot *depot, struct ivl_magazines *own, struct ivl_block *block)
{
	if (!own->free)
		own->count = 0;
	block->next = own->free;
	own->free = block;
	own->count++;
	poison(depot, block);
}

void ivl_block_put(struct ivl_depot *depot, struct ivl_magazines *own, void *block)
{
	if (own && (!own->free || own->count < IVL_MAGAZINE)) {
		push(depot, own, block);
	} else if (own && !own->full) {
		own->full = own->free;
		own->free = NULL;
		push(depot, own, block);
	} else {
		struct ivl_magazines *to = own ? own : &depot->loose;

		pthread_mutex_lock(&depot->lock);
		if (own) {
			put_magazine(depot, own->full);
			own->full = own->free;
			own->free = NULL;
		} else if (to->free && to->count >= IVL_MAGAZINE) {
			put_magazine(depot, to->free);
			to->free = NULL;
		}
		push(depot, to, block);
		pthread_mutex_unlock(&depot->lock);
	}
}

void ivl_blocks_leave(struct ivl_depot *depot, struct ivl_magazines *own)
{
	pthread_mutex_lock(&depot->lock);
	if (own->free)
		put_magazine(depot, own->free);
	if (own->full)
		put_magazine(depot, own->full);
	pthread_mutex_unlock(&depot->lock);
	*own = (struct ivl_magazines){ 0 };
}
