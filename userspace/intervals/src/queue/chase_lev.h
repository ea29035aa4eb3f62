/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The dynamic circular work-stealing deque of Chase and Lev (SPAA 2005; thesis, section 10.1). The
 * owner's half is inlined into the scheduler's fast path.
 *
 * The owner puts and takes at the bottom (the ring's tail), thieves steal at the top (its head),
 * which never decreases. Only the last element is contended:
 *
 *	owner				thief
 *	bottom = b	(O1)		t = top		(T1)
 *	t = top		(O2)		b = bottom	(T2)
 *	t < b: take without CAS		t < b: steal by a CAS of top	(T3)
 *
 * These five are seq_cst, and so in one order. If T1 finds top at the owner's element, it comes
 * after the T3 that moved top there. Either T2 sees O1, and the thief knows that the element is
 * taken; or T2 comes before O1 and T3 before O2, and the owner sees top. Le, Pop, Cohen and Zappa
 * Nardelli (PPoPP 2013) use fences instead of O1 and T1; x86 then waits twice in take(), for the
 * store and for the fence, and once in steal().
 *
 * put() does not read top, which thieves write. It uses an older value, by which the deque can only
 * look too long (Chase and Lev, section 2.3).
 */
#ifndef IVL_CHASE_LEV_H
#define IVL_CHASE_LEV_H

#include <errno.h>
#include <stdint.h>

#include "queue/open_ring.h"

/* False: no room. */
static inline bool ivl_chase_lev_try_put(struct ivl_open_ring *deque, void *element)
{
	uint64_t b = atomic_load_explicit(&deque->tail, memory_order_relaxed);

	if (__builtin_expect(b - deque->known_head > deque->own_ring->mask, 0))
		return false;
	atomic_store_explicit(ivl_ring_slot(deque->own_ring, b), element, memory_order_relaxed);
	/* Pairs with the load of bottom in steal(): the slot and the element. */
	atomic_store_explicit(&deque->tail, b + 1, memory_order_release);
	return true;
}

static inline int ivl_chase_lev_put(struct ivl_open_ring *deque, void *element)
{
	if (__builtin_expect(ivl_chase_lev_try_put(deque, element), 1))
		return 0;
	if (!ivl_open_ring_make_room(deque, atomic_load_explicit(&deque->tail,
								 memory_order_relaxed)))
		return ENOMEM;
	return ivl_chase_lev_try_put(deque, element) ? 0 : ENOMEM;
}

static inline void *ivl_chase_lev_take(struct ivl_open_ring *deque)
{
	uint64_t b = atomic_load_explicit(&deque->tail, memory_order_relaxed) - 1;
	uint64_t t;
	void *element;

	/* Nothing was put since top was here: there is no slot to read. */
	if (__builtin_expect(b + 1 == deque->known_head, 0))
		return NULL;
	/* Only the owner writes slots, so this need not come after O1. */
	element = atomic_load_explicit(ivl_ring_slot(deque->own_ring, b), memory_order_relaxed);
	/* O1. An exchange: some compilers make a slower fence of a seq_cst store. */
	(void)atomic_exchange_explicit(&deque->tail, b, memory_order_seq_cst);
	/* O2 */
	t = atomic_load_explicit(&deque->head, memory_order_seq_cst);
	if (__builtin_expect((int64_t)(b - t) > 0, 1))
		return element;
	/* The last element: it belongs to the thread that moves top. Relaxed: the owner put it. */
	if (b != t || !atomic_compare_exchange_strong_explicit(&deque->head, &t, t + 1,
							       memory_order_relaxed,
							       memory_order_relaxed))
		element = NULL;
	atomic_store_explicit(&deque->tail, b + 1, memory_order_relaxed);
	return element;
}

#endif
