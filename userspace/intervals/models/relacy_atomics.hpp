/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of <stdatomic.h> that the models' sources use, on relacy's atomics.
 *
 * Each memory_order of the source is a site, which model.hpp can weaken to see the model fail. A
 * model's own accesses, which stay as they are, use relacy's form: flag.load(rl::mo_acquire, $).
 */
#ifndef IVL_RELACY_ATOMICS_HPP
#define IVL_RELACY_ATOMICS_HPP

#include <relacy/relacy.hpp>

#include <cstring>
#include <tuple>

/* A memory_order of the source: function, line, order. */
typedef std::tuple<const char *, unsigned int, rl::memory_order> ivl_site;

struct ivl_weakening {
	ivl_site site;
	rl::memory_order to;
};

/* The weakened site, and all sites met, with their file (while `ivl_sites` is not NULL). */
inline ivl_weakening ivl_weakened;
inline rl::map<ivl_site, const char *>::type *ivl_sites;

inline rl::memory_order ivl_order(rl::memory_order order, const char *function, const char *file,
				  unsigned int line)
{
	ivl_site site(function, line, order);

	if (ivl_sites)
		(*ivl_sites)[site] = file;
	return ivl_weakened.site == site ? ivl_weakened.to : order;
}

#undef memory_order_relaxed
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#define IVL_ORDER(order) ivl_order(rl::mo_##order, __func__, __FILE__, __LINE__)
/* relacy wants two arguments: the order, and '$', where in the source. */
#define memory_order_relaxed rl::mo_relaxed, $
#define memory_order_acquire IVL_ORDER(acquire), $
#define memory_order_release IVL_ORDER(release), $
#define memory_order_acq_rel IVL_ORDER(acq_rel), $
#define memory_order_seq_cst IVL_ORDER(seq_cst), $

inline void ivl_model_fence(rl::memory_order order, rl::debug_info_param where)
{
	if (order != rl::mo_relaxed)
		rl::atomic_thread_fence(order, where);
}

/* acq_rel, what seq_cst is weakened to, is acquire of a load. */
template <typename atomic>
auto ivl_model_load(const atomic *object, rl::memory_order order, rl::debug_info_param where)
{
	return object->load(order == rl::mo_acq_rel ? rl::mo_acquire : order, where);
}

/* Every access of a variable that is not atomic is checked for races. */
template <typename T> class ivl_shared {
public:
	ivl_shared() {}
	ivl_shared(T value) { var_($).store(value); }
	ivl_shared(const ivl_shared &other) { var_($).store(other.var_($).load()); }
	/* Destruction is a write: every use must happen before it. */
	~ivl_shared() { var_($).store(T()); }
	operator T() const { return var_($).load(); }
	T operator->() const { return var_($).load(); }
	T operator=(T value)
	{
		var_($).store(value);
		return value;
	}
	T operator=(const ivl_shared &other) { return *this = other.var_($).load(); }
	T operator++(int) { return var_($)++; }
	T operator--(int) { return var_($)--; }

private:
	rl::var<T> var_;
};

#define IVL_SHARED(type) ivl_shared<type>
#define _Atomic(type) rl::atomic<type>

#define atomic_init(object, value) (object)->store(value, rl::mo_relaxed, $)
#define atomic_load_explicit(object, ...) ivl_model_load(object, __VA_ARGS__)
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
#define atomic_thread_fence(...) ivl_model_fence(__VA_ARGS__)

#endif
