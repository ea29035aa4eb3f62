// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that come and go: make(), find_seat() and stand_up() in src/seat.c, and who looks
 * into seats, step by step. Two in one seat, and one that is seen before it was made, are
 * data races.
 */
#include "model.hpp"

static const int TURNS = 2;

template <int callers, int thieves>
struct seats : rl::test_suite<seats<callers, thieves>, callers + thieves> {
	struct seat {
		IVL_SHARED(int) made, sits;
		seat *next;
		_Atomic(bool) taken;
	};

	seat all[callers * TURNS];
	_Atomic(seat *) list;
	rl::atomic<int> count;

	void before()
	{
		list.store(NULL, rl::mo_relaxed, $);
		count.store(0, rl::mo_relaxed, $);
	}

	seat *first()
	{
		return atomic_load_explicit(&list, memory_order_acquire);
	}

	seat *make()
	{
		seat *it = &all[count.fetch_add(1, rl::mo_relaxed, $)];

		it->made = 1;
		it->taken.store(true, rl::mo_relaxed, $);
		it->next = atomic_load_explicit(&list, memory_order_relaxed);
		while (!atomic_compare_exchange_weak_explicit(&list, &it->next, it,
							      memory_order_release,
							      memory_order_relaxed))
			;
		return it;
	}

	seat *find()
	{
		for (seat *it = first(); it; it = it->next)
			if (!atomic_load_explicit(&it->taken, memory_order_relaxed) &&
			    (ivl_has_defect("taken without an exchange") ?
				     (it->taken.store(true, rl::mo_relaxed, $), true) :
				     !atomic_exchange_explicit(&it->taken, true,
							       memory_order_acquire)))
				return it;
		return make();
	}

	void stand_up(seat *it)
	{
		atomic_store_explicit(&it->taken, false, memory_order_release);
	}

	void thread(unsigned int index)
	{
		for (int turn = 0; turn < TURNS; turn++) {
			if (index >= callers) {
				for (seat *it = first(); it; it = it->next)
					RL_ASSERT(it->made == 1);
				continue;
			}
			seat *mine = find();

			mine->sits = index;
			rl::yield(1, $);
			RL_ASSERT(mine->sits == (int)index);
			stand_up(mine);
		}
	}
};

int main(int argc, char **argv)
{
	return ivl_model<seats<2, 0>, seats<2, 1>, seats<3, 0>>::main(
		argc, argv, { "taken without an exchange" });
}
