/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The least that a queue must do: the taker of an element sees what was written before the put, and
 * nothing else is ordered. All queues of the runtime do more. And waiting threads.
 */
#ifndef IVL_RELACY_QUEUE_HPP
#define IVL_RELACY_QUEUE_HPP

#include "atomics.h"

/* By thread: it waits, and for what; NULL: for work. All false when a schedule begins. */
inline bool ivl_model_parked[8];
inline const void *ivl_model_parked_for[8];

/* Neither orders anything. */
inline void ivl_model_park(const void *what)
{
	ivl_model_parked[rl::thread_index()] = true;
	ivl_model_parked_for[rl::thread_index()] = what;
	rl::ctx().park_current_thread(false, false, false, $);
}

inline void ivl_model_wake(const void *what)
{
	for (unsigned int thread = 0; thread < 8; thread++) {
		if (!ivl_model_parked[thread] || ivl_model_parked_for[thread] != what)
			continue;
		ivl_model_parked[thread] = false;
		rl::ctx().unpark_thread(thread, false, $);
	}
}

class ivl_model_queue {
public:
	void put(void *element)
	{
		slot *put = &slots[puts++];

		RL_ASSERT(puts <= MOST);
		put->element = element;
		put->published.store(1, rl::mo_release, $);
		order[count++] = put;
		ivl_model_wake(NULL);
	}

	void *take_newest()
	{
		return count ? got(order[--count]) : NULL;
	}

	void *take_oldest()
	{
		slot *oldest = order[0];

		if (!count)
			return NULL;
		memmove(order, order + 1, --count * sizeof(*order));
		return got(oldest);
	}

	size_t size() const
	{
		return count;
	}

private:
	static const unsigned int MOST = 32;

	struct slot {
		void *element;
		rl::atomic<int> published;
	};

	void *got(slot *slot)
	{
		RL_ASSERT(slot->published.exchange(0, rl::mo_acquire, $) == 1);
		return slot->element;
	}

	slot slots[MOST];		/* each used once */
	slot *order[MOST];
	unsigned int puts = 0, count = 0;
};

#endif
