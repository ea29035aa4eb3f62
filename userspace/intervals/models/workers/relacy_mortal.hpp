/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Atomics of objects with an end, and what relacy lacks for them. relacy executes each thread in
 * program order, so no access is delayed, as C11 allows:
 *
 *  - An access that is not ordered before the object's end may come after it. All accesses are
 *    recorded, and each must happen before the end.
 *  - A relaxed addition may come after the code behind it. It is delayed at random until a thread
 *    that must see it uses the atomic.
 */
#ifndef IVL_RELACY_MORTAL_HPP
#define IVL_RELACY_MORTAL_HPP

#include "atomics.h"

#include <type_traits>

template <typename T> class ivl_mortal {
public:
	ivl_mortal() {}
	ivl_mortal(T value) { store(value, rl::mo_relaxed, $); }

	~ivl_mortal()
	{
		perform_late();
		for (unsigned int i = 0; i < MOST_THREADS; i++)
			RL_ASSERT(is_seen(i, used[i]));
	}

	T load(rl::memory_order order, rl::debug_info_param where) const
	{
		ivl_mortal *me = const_cast<ivl_mortal *>(this);

		me->perform_late();
		return me->used_by(me->value.load(order, where));
	}

	void store(T desired, rl::memory_order order, rl::debug_info_param where)
	{
		perform_late();
		value.store(desired, order, where);
		used_by(desired);
	}

	T exchange(T desired, rl::memory_order order, rl::debug_info_param where)
	{
		perform_late();
		return used_by(value.exchange(desired, order, where));
	}

	/* What a defect has in the place of an exchange. */
	T load_and_store(T desired)
	{
		T old = load(rl::mo_acquire, $);

		store(desired, rl::mo_release, $);
		return old;
	}

	template <typename... orders>
	bool compare_exchange_strong(T &expected, T desired, orders... rest)
	{
		perform_late();
		return used_by(value.compare_exchange_strong(expected, desired, rest...));
	}

	template <typename... orders>
	bool compare_exchange_weak(T &expected, T desired, orders... rest)
	{
		perform_late();
		return used_by(value.compare_exchange_weak(expected, desired, rest...));
	}

	T fetch_sub(T difference, rl::memory_order order, rl::debug_info_param where)
	{
		perform_late();
		return used_by(value.fetch_sub(difference, order, where));
	}

	/* The result serves only as a hint. */
	T fetch_add(T sum, rl::memory_order order, rl::debug_info_param where)
	{
		perform_late();
		if (order != rl::mo_relaxed || late || rl::rand(2))
			return used_by(value.fetch_add(sum, order, where));
		late = sum;
		adder = rl::thread_index();
		rl::ctx().threadx_->own_acq_rel_order_++;
		return used_by(value.debug_value());
	}

	/* As the model sees it, which sees all. */
	T now() const
	{
		return value.debug_value();
	}

private:
	static const unsigned int MOST_THREADS = 4;

	static bool is_seen(unsigned int thread, rl::timestamp_t when)
	{
		rl::thread_info_base *me = rl::ctx().threadx_;

		return !when || thread == me->index_ || me->acq_rel_order_[thread] >= when;
	}

	void perform_late()
	{
		if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
			if (!late || (!is_seen(adder, used[adder]) && rl::rand(4)))
				return;

			rl::preemption_disabler one_step(rl::ctx());
			T sum = late;

			late = 0;
			value.fetch_add(sum, rl::mo_relaxed, $);
		}
	}

	template <typename result> result used_by(result it)
	{
		rl::thread_info_base *me = rl::ctx().threadx_;

		used[me->index_] = me->own_acq_rel_order_;
		return it;
	}

	rl::atomic<T> value;
	rl::timestamp_t used[MOST_THREADS] = {};	/* each thread's last use */
	T late = 0;					/* an addition that is still to come */
	unsigned int adder = 0;
};

#undef _Atomic
#define _Atomic(type) ivl_mortal<type>

#endif
