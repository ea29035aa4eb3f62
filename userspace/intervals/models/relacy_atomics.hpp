/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of <stdatomic.h> that the models' sources use, on relacy's atomics.
 * relacy defines memory_order_x as two arguments, the order and where in the source.
 */
#ifndef IVL_RELACY_ATOMICS_HPP
#define IVL_RELACY_ATOMICS_HPP

#include <relacy/relacy.hpp>

/* relacy.hpp's '$' is the place in the source; these would hide C's own. */
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef errno

/* Every access of a variable that is not atomic is checked for races. */
template <typename T> class ivl_shared {
public:
	ivl_shared() {}
	ivl_shared(const ivl_shared &other) { var_.store(other.var_.load($), $); }
	operator T() const { return var_.load($); }
	T operator->() const { return var_.load($); }
	T operator=(T value)
	{
		var_.store(value, $);
		return value;
	}
	T operator=(const ivl_shared &other) { return *this = other.var_.load($); }

private:
	rl::var<T> var_;
};

#define IVL_SHARED(type) ivl_shared<type>
#define _Atomic(type) rl::atomic<type>

#define atomic_init(object, value) (object)->store(value, memory_order_relaxed)
#define atomic_load_explicit(object, ...) (object)->load(__VA_ARGS__)
#define atomic_store_explicit(object, value, ...) (object)->store(value, __VA_ARGS__)
#define atomic_exchange_explicit(object, value, ...) (object)->exchange(value, __VA_ARGS__)
#define atomic_fetch_add_explicit(object, value, ...) (object)->fetch_add(value, __VA_ARGS__)
#define atomic_fetch_sub_explicit(object, value, ...) (object)->fetch_sub(value, __VA_ARGS__)
#define atomic_fetch_or_explicit(object, value, ...) (object)->fetch_or(value, __VA_ARGS__)
#define atomic_fetch_and_explicit(object, value, ...) (object)->fetch_and(value, __VA_ARGS__)
#define atomic_compare_exchange_strong_explicit(object, expected, desired, ...)                    \
	(object)->compare_exchange_strong(*(expected), desired, __VA_ARGS__)
#define atomic_compare_exchange_weak_explicit(object, expected, desired, ...)                      \
	(object)->compare_exchange_weak(*(expected), desired, __VA_ARGS__)
#define atomic_thread_fence(...) rl::atomic_thread_fence(__VA_ARGS__)

#endif
