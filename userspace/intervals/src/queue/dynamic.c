// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The dynamic deque of Hendler, Lev, Moir and Shavit (DISC 2004, Distributed Computing 2006;
 * thesis, section 10.3.1): a doubly linked list of small arrays. The owner's end is on the left, at
 * decreasing slots:
 *
 *	node 2 <-> node 1 <-> node 0
 *	    ^bottom       ^top
 *
 * bottom is the slot of the next put, top that of the next steal. The deque is empty if they are
 * equal, or if bottom is one to the right of top, as while the owner tries to take the last
 * element.
 *
 * Nodes have numbers, so that tag, node and slot fit into one word. They are not freed before the
 * deque: thieves may read old ones. The owner reuses nodes to the right of top, and nodes that it
 * leaves. The tag changes whenever top stays or changes nodes, so no value of top repeats.
 */
#include <errno.h>

#include "fence.h"
#include "place.h"
#include "queue.h"

/* top: tag (upper bits), node number, slot (lower bits); bottom: tag 0. */
#define SLOT_BITS 10
#ifndef NODE_BITS			/* smaller in the model */
#define NODE_BITS 14
#endif
#define MOST_NODES (1u << NODE_BITS)
#define PLACE_MASK ((UINT64_C(1) << (NODE_BITS + SLOT_BITS)) - 1)
#define TAG_ONE (PLACE_MASK + 1)

/* Just below the wrap, so that each run wraps. */
#define FIRST_TAG (-2 * TAG_ONE)

#ifndef IVL_DYNAMIC_SLOTS
#define IVL_DYNAMIC_SLOTS 512u		/* per node; smaller in the model */
#endif
_Static_assert(IVL_DYNAMIC_SLOTS <= 1u << SLOT_BITS, "a slot's number fits");

struct list_node {
	_Atomic(uint32_t) left, right;
	/* Increases from node to node, to the left. */
	_Atomic(uint64_t) order;
	uint32_t next_free;		/* owner's */
	_Alignas(IVL_LINE) _Atomic(void *) slots[IVL_DYNAMIC_SLOTS];
};

#define NONE UINT32_MAX

struct dynamic {
	/* Owner's; thieves read bottom. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) bottom;
	uint32_t rightmost;		/* of the list */
	uint32_t free;
	uint32_t nodes;			/* created so far */
	int node;
	/* Thieves'. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) top;
	/* By number. Rarely written; unused entries are not touched. */
	_Alignas(IVL_LINE) _Atomic(struct list_node *) table[MOST_NODES];
};

static struct dynamic *dynamic_of(const struct ivl_queue_base *queue)
{
	return (struct dynamic *)queue;
}

static uint64_t pack(uint32_t node, uint32_t slot)
{
	return (uint64_t)node << SLOT_BITS | slot;
}

static uint32_t node_of(uint64_t word)
{
	return (uint32_t)(word >> SLOT_BITS) & (MOST_NODES - 1);
}

static uint32_t slot_of(uint64_t word)
{
	return (uint32_t)word & ((1u << SLOT_BITS) - 1);
}

/* Numbers come from the owner: the reader sees what it wrote before. */
static struct list_node *node_at(struct dynamic *deque, uint32_t number)
{
	return atomic_load_explicit(&deque->table[number], memory_order_relaxed);
}

static _Atomic(void *) *slot_at(struct dynamic *deque, uint64_t word)
{
	return &node_at(deque, node_of(word))->slots[slot_of(word)];
}

/* Add a node to the free list; false: ENOMEM. */
static bool make_node(struct dynamic *deque)
{
	struct list_node *made;

	if (deque->nodes == MOST_NODES)
		return false;
	made = ivl_node_alloc(sizeof(*made), deque->node);
	if (!made)
		return false;
	atomic_init(&made->left, NONE);
	atomic_init(&made->right, NONE);
	atomic_init(&made->order, 0);
	for (uint32_t i = 0; i < IVL_DYNAMIC_SLOTS; i++)
		atomic_init(&made->slots[i], NULL);
	made->next_free = deque->free;
	deque->free = deque->nodes++;
	atomic_init(&deque->table[deque->free], made);
	return true;
}

static void free_node(struct dynamic *deque, uint32_t number)
{
	node_at(deque, number)->next_free = deque->free;
	deque->free = number;
}

/* Link a free node to the left of `right`. */
static uint32_t link_left(struct dynamic *deque, uint32_t right)
{
	uint32_t left = deque->free;
	struct list_node *node = node_at(deque, left), *neighbour = node_at(deque, right);

	deque->free = node->next_free;
	atomic_store_explicit(&node->right, right, memory_order_relaxed);
	atomic_store_explicit(&node->order,
			      atomic_load_explicit(&neighbour->order, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&neighbour->left, left, memory_order_relaxed);
	return left;
}

/* Free nodes to the right of top's, but for the next one. */
static void free_stolen(struct dynamic *deque)
{
	/* Pairs with the CAS in steal(): the thieves have read the slots. */
	uint32_t last = node_of(atomic_load_explicit(&deque->top, memory_order_acquire));
	uint32_t left;

	while (deque->rightmost != last) {
		left = atomic_load_explicit(&node_at(deque, deque->rightmost)->left,
					    memory_order_relaxed);
		if (left == last)
			break;
		free_node(deque, deque->rightmost);
		deque->rightmost = left;
	}
}

static void destroy(struct ivl_queue_base *queue)
{
	struct dynamic *deque = dynamic_of(queue);

	for (uint32_t i = 0; i < deque->nodes; i++)
		ivl_node_free(node_at(deque, i), sizeof(struct list_node), deque->node);
	ivl_node_free(deque, sizeof(*deque), deque->node);
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	struct dynamic *deque = ivl_node_alloc(sizeof(*deque), node);
	/* One more, to the right of the first slot. */
	size_t nodes = (capacity + IVL_DYNAMIC_SLOTS - 1) / IVL_DYNAMIC_SLOTS + 1;
	uint64_t first;

	if (!deque)
		return NULL;
	deque->node = node;
	deque->nodes = 0;
	deque->free = NONE;
	while (deque->nodes < nodes || deque->nodes < 2) {
		if (!make_node(deque)) {
			destroy((struct ivl_queue_base *)deque);
			return NULL;
		}
	}
	deque->rightmost = deque->free;
	deque->free = node_at(deque, deque->free)->next_free;
	first = pack(link_left(deque, deque->rightmost), IVL_DYNAMIC_SLOTS - 1);
	atomic_init(&deque->bottom, first);
	atomic_init(&deque->top, FIRST_TAG | first);
	return (struct ivl_queue_base *)deque;
}

static int put(struct ivl_queue_base *queue, void *element)
{
	struct dynamic *deque = dynamic_of(queue);
	uint64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed), next;

	if (slot_of(bottom)) {
		next = bottom - 1;
	} else {
		if (deque->free == NONE)
			free_stolen(deque);
		if (deque->free == NONE && !make_node(deque))
			return ENOMEM;
		next = pack(link_left(deque, node_of(bottom)), IVL_DYNAMIC_SLOTS - 1);
	}
	atomic_store_explicit(slot_at(deque, bottom), element, memory_order_relaxed);
	/* Pairs with the load in steal(): the slot, the element and the links. */
	atomic_store_explicit(&deque->bottom, next, memory_order_release);
	return 0;
}

static void *take(struct ivl_queue_base *queue)
{
	struct dynamic *deque = dynamic_of(queue);
	uint64_t old = atomic_load_explicit(&deque->bottom, memory_order_relaxed), bottom, top;
	bool leaves = slot_of(old) == IVL_DYNAMIC_SLOTS - 1;
	void *element;

	bottom = leaves ? pack(atomic_load_explicit(&node_at(deque, node_of(old))->right,
						    memory_order_relaxed), 0) :
			  old + 1;
	atomic_store_explicit(&deque->bottom, bottom, memory_order_relaxed);
	/* Pairs with the fence in steal(): see queue/chase_lev.h. */
	ivl_fence(memory_order_seq_cst);
	top = atomic_load_explicit(&deque->top, memory_order_relaxed);
	element = atomic_load_explicit(slot_at(deque, bottom), memory_order_relaxed);
	/* Empty, or a thief has taken the last element. */
	if ((top & PLACE_MASK) == old ||
	    ((top & PLACE_MASK) == bottom &&
	     !atomic_compare_exchange_strong_explicit(&deque->top, &top, top + TAG_ONE,
						      memory_order_relaxed,
						      memory_order_relaxed))) {
		atomic_store_explicit(&deque->bottom, old, memory_order_relaxed);
		return NULL;
	}
	if (leaves)
		free_node(deque, node_of(old));
	return element;
}

static bool is_empty(struct dynamic *deque, uint64_t bottom, uint64_t place)
{
	if (slot_of(place) == IVL_DYNAMIC_SLOTS - 1)
		return bottom == place ||
		       bottom == pack(atomic_load_explicit(&node_at(deque, node_of(place))->right,
							   memory_order_relaxed), 0);
	return bottom == place || bottom == place + 1;
}

static enum ivl_steal steal(struct ivl_queue_base *queue, void **element)
{
	struct dynamic *deque = dynamic_of(queue);
	uint64_t top = atomic_load_explicit(&deque->top, memory_order_relaxed);
	uint64_t place = top & PLACE_MASK, bottom, next;

	/* Pairs with the fence in take(). */
	ivl_fence(memory_order_seq_cst);
	/* Pairs with the store in put(). */
	bottom = atomic_load_explicit(&deque->bottom, memory_order_acquire);
	if (is_empty(deque, bottom, place))
		/* Or the two loads were inconsistent. */
		return atomic_load_explicit(&deque->top, memory_order_relaxed) == top ? IVL_EMPTY :
											IVL_LOST;
	if (slot_of(place))
		next = top - 1;
	else
		next = ((top & ~PLACE_MASK) + TAG_ONE) |
		       pack(atomic_load_explicit(&node_at(deque, node_of(place))->left,
						 memory_order_relaxed), IVL_DYNAMIC_SLOTS - 1);
	*element = atomic_load_explicit(slot_at(deque, place), memory_order_relaxed);
	/* Pairs with the load in free_stolen(): the slot is read before it is reused. */
	return atomic_compare_exchange_strong_explicit(&deque->top, &top, next,
						       memory_order_release,
						       memory_order_relaxed) ? IVL_STOLEN :
									       IVL_LOST;
}

static size_t size(const struct ivl_queue_base *queue)
{
	struct dynamic *deque = dynamic_of(queue);
	uint64_t top, bottom, nodes;
	int64_t length;

	do {
		/* Pairs with the CAS in steal(): its node. */
		top = atomic_load_explicit(&deque->top, memory_order_acquire);
		/* Pairs with the store in put(): its node. */
		bottom = atomic_load_explicit(&deque->bottom, memory_order_acquire);
		nodes = atomic_load_explicit(&node_at(deque, node_of(bottom))->order,
					     memory_order_relaxed) -
			atomic_load_explicit(&node_at(deque, node_of(top))->order,
					     memory_order_relaxed);
		/* If top has moved, its node may be in use elsewhere. */
	} while (atomic_load_explicit(&deque->top, memory_order_relaxed) != top);
	length = (int64_t)(nodes * IVL_DYNAMIC_SLOTS + slot_of(top) - slot_of(bottom));
	return length > 0 ? (size_t)length : 0;
}

const struct ivl_queue_ops ivl_dynamic_ops = {
	.name = "dynamic",
	.create = create,
	.destroy = destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
