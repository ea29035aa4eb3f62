// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that come and go: make(), find_seat() and stand_up() in src/external.c, and the readers
 * of external workers, step by step. Two threads as one external worker, and a worker read before
 * it was made, are data races.
 */
#include "model.hpp"

static const int TURNS = 2;

template <int callers, int thieves>
struct externals : rl::test_suite<externals<callers, thieves>, callers + thieves> {
	struct external {
		IVL_SHARED(int) made, user;
		external *next;
		_Atomic(bool) taken;
	};

	external all[callers * TURNS];
	_Atomic(external *) list;
	rl::atomic<int> count;

	void before()
	{
		list.store(NULL, rl::mo_relaxed, $);
		count.store(0, rl::mo_relaxed, $);
	}

	external *first()
	{
		return atomic_load_explicit(&list, memory_order_acquire);
	}

	external *make()
	{
		external *it = &all[count.fetch_add(1, rl::mo_relaxed, $)];

		it->made = 1;
		it->taken.store(true, rl::mo_relaxed, $);
		it->next = atomic_load_explicit(&list, memory_order_relaxed);
		while (!atomic_compare_exchange_weak_explicit(&list, &it->next, it,
							      memory_order_release,
							      memory_order_relaxed))
			;
		return it;
	}

	external *find()
	{
		for (external *it = first(); it; it = it->next)
			if (!atomic_load_explicit(&it->taken, memory_order_relaxed) &&
			    (ivl_has_defect("taken without an exchange") ?
				     (it->taken.store(true, rl::mo_relaxed, $), true) :
				     !atomic_exchange_explicit(&it->taken, true,
							       memory_order_acquire)))
				return it;
		return make();
	}

	void leave(external *it)
	{
		atomic_store_explicit(&it->taken, false, memory_order_release);
	}

	void thread(unsigned int index)
	{
		for (int turn = 0; turn < TURNS; turn++) {
			if (index >= callers) {
				for (external *it = first(); it; it = it->next)
					RL_ASSERT(it->made == 1);
				continue;
			}
			external *mine = find();

			mine->user = index;
			rl::yield(1, $);
			RL_ASSERT(mine->user == (int)index);
			leave(mine);
		}
	}
};

int main(int argc, char **argv)
{
	return ivl_model<externals<2, 0>, externals<2, 1>, externals<3, 0>>::main(
		argc, argv, { "taken without an exchange" });
}
