/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the queues' sources need to be compiled for relacy, and what relacy lacks.
 *
 * relacy lets a load read an old value, but never a value that is stored later. C11
 * and real CPUs do: a thief that has claimed an element may have read its slot only
 * after the owner used the slot again, unless the claim's release and the owner's
 * acquire forbid it. So the atomics that hold elements remember their readers. When a thread
 * stores to one without being ordered after a read, the reader may get the new element instead of
 * the old one, even after the read: nothing yet depended on the value.
 */
#ifndef IVL_QUEUE_MODEL_HPP
#define IVL_QUEUE_MODEL_HPP

#include <malloc.h>

#include "model.hpp"

#include <cstdlib>
#include <new>

#include "relacy_words.hpp"

#define _Static_assert static_assert

const int MOST_THREADS = 4;
const int MOST_ITEMS = 16;

/* An element. */
struct ivl_model_item {
	rl::var<int> payload;		/* written before put, read after take or steal */
	int count;			/* how often it came out */
};

class ivl_model_slot;

/* A read of an atomic that holds elements. */
struct ivl_model_read {
	ivl_model_slot *slot;
	void *value;
	void *later;			/* that the read may have got instead */
	rl::timestamp_t when;
	bool delivered;
};

/* The last reads of each thread, the newest first. */
const int MOST_READS = 4;
inline ivl_model_read ivl_model_reads[MOST_THREADS][MOST_READS];

inline ivl_model_item *ivl_model_item_of(void *element)
{
	return (ivl_model_item *)element;
}

class ivl_model_slot {
public:
	/* Its memory is used again only when all reads are ordered before. */
	~ivl_model_slot()
	{
		for (auto &thread : ivl_model_reads)
			for (auto &read : thread)
				if (read.slot == this)
					read.slot = NULL;
	}

	void *load(rl::memory_order order, rl::debug_info_param where)
	{
		return remember(slot.load(order, where));
	}
	void *exchange(void *value, rl::memory_order order, rl::debug_info_param where)
	{
		return remember(slot.exchange(value, order, where));
	}
	void store(void *value, rl::memory_order order, rl::debug_info_param where)
	{
		slot.store(value, order, where);
		for (int i = 0; value && i < MOST_THREADS; i++)
			for (auto &read : ivl_model_reads[i])
				if (read.slot == this && read.value && is_unordered(i, read.when))
					may_be_seen_by(&read, value);
	}

private:
	static bool is_unordered(int thread, rl::timestamp_t when)
	{
		rl::thread_info_base *me = rl::ctx().threadx_;

		return thread != me->index_ && me->acq_rel_order_[thread] < when;
	}

	static void may_be_seen_by(ivl_model_read *read, void *value)
	{
		if (!read->delivered) {
			read->later = value;
		} else if (rl::rand(2)) {
			ivl_model_item_of(read->value)->count--;
			ivl_model_item_of(value)->count++;
			read->value = value;
		}
	}

	void *remember(void *value)
	{
		rl::thread_info_base *me = rl::ctx().threadx_;
		ivl_model_read *reads = ivl_model_reads[me->index_];

		/* One that was not delivered need not be remembered any longer. */
		if (reads[0].delivered)
			memmove(reads + 1, reads, (MOST_READS - 1) * sizeof(*reads));
		reads[0] = { this, value, NULL, me->own_acq_rel_order_, false };
		return value;
	}

	rl::atomic<void *> slot;
};

/* The calling thread has got an element from a queue. */
inline void ivl_model_deliver(void *element)
{
	ivl_model_read *read = &ivl_model_reads[rl::thread_index()][0];

	RL_ASSERT(element);
	if (read->slot && read->value == element) {
		read->delivered = true;
		if (read->later && rl::rand(2)) {
			read->value = read->later;
			ivl_model_item_of(read->later)->count++;
			return;
		}
	}
	RL_ASSERT(ivl_model_item_of(element)->payload($) == 1);
	ivl_model_item_of(element)->count++;
}

template <typename T> struct ivl_model_atomic {
	typedef rl::atomic<T> type;
};
template <> struct ivl_model_atomic<void *> {
	typedef ivl_model_slot type;
};

#undef _Atomic
#define _Atomic(T) ivl_model_atomic<T>::type

/*
 * The sources' memory is not made of objects: atomics begin with atomic_init() and
 * end with the memory they are in.
 */
struct ivl_model_object {
	void *object;
	void (*destroy)(void *object);
};

inline ivl_model_object ivl_model_objects[1024];
inline int ivl_model_object_count;
inline int ivl_model_allocations;

template <typename T> void ivl_model_begin(T *object)
{
	RL_ASSERT(ivl_model_object_count < 1024);
	::new ((void *)object) T;
	ivl_model_objects[ivl_model_object_count++] = { object, [](void *it) { ((T *)it)->~T(); } };
}

inline void ivl_model_end(void *memory, size_t bytes)
{
	for (int i = ivl_model_object_count; i--;) {
		ivl_model_object *o = &ivl_model_objects[i];

		if ((char *)o->object >= (char *)memory &&
		    (char *)o->object < (char *)memory + bytes) {
			o->destroy(o->object);
			*o = ivl_model_objects[--ivl_model_object_count];
		}
	}
}

#undef atomic_init
#define atomic_init(object, value) \
	(ivl_model_begin(object), (object)->store(value, rl::mo_relaxed, $))

#undef pthread_mutex_init
#define pthread_mutex_init(mutex, attributes) \
	(ivl_model_begin(mutex), rl::rl_pthread_mutex_init(mutex, attributes, $))
#define pthread_mutex_trylock(mutex) rl::rl_pthread_mutex_try_lock(mutex, $)

/* Large blocks too come from the heap and stay there: a schedule is shorter than an mmap(). */
inline const int ivl_model_heap = mallopt(M_MMAP_THRESHOLD, 1 << 26) &
				  mallopt(M_TRIM_THRESHOLD, 1 << 27);

#endif
