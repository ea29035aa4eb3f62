/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * futex_wait() and futex_wake() for the models. Comparing and queueing are one step for wakers, as
 * in the kernel; a wake-up chooses its waiter at random.
 */
#ifndef IVL_FUTEX_H
#define IVL_FUTEX_H

#include "atomics.h"

/* A member of the model's suite: the kernel's side, of one iteration. */
class ivl_model_futex {
public:
	ivl_model_futex() { current = this; }

	template <typename word_t> void wait(word_t *word, uint32_t value)
	{
		unsigned int me = rl::thread_index();

		lock.lock($);
		if (!compares || value_of(word) == value) {
			sleeps_on[me] = word;
			while (sleeps_on[me])
				woken[me].wait(lock, $);
		}
		lock.unlock($);
	}

	void wake(const void *word, unsigned int count)
	{
		lock.lock($);
		for (unsigned int i = 0, first = rl::rand(MOST); i < MOST && count; i++) {
			unsigned int who = (first + i) % MOST;

			if (sleeps_on[who] != word)
				continue;
			sleeps_on[who] = NULL;
			woken[who].notify_one($);
			count--;
		}
		lock.unlock($);
	}

	static inline ivl_model_futex *current;
	bool compares = true;	/* false: a defect */

private:
	static const unsigned int MOST = 8;

	static uint32_t value_of(rl::atomic<uint32_t> *word)
	{
		return word->load(rl::mo_relaxed, $);
	}
	static uint32_t value_of(rl::atomic<uint64_t> *word)
	{
		return (uint32_t)(word->load(rl::mo_relaxed, $) >> 32);
	}

	rl::mutex lock;
	rl::condition_variable woken[MOST];
	const void *sleeps_on[MOST] = {};
};

#define ivl_futex_upper(word64) (word64)
#define ivl_futex_wait(word, value) ivl_model_futex::current->wait(word, value)
/* No time passes: it is over by now, or never (0). */
#define ivl_futex_wait_until(word, value, until) \
	((until) ? rl::yield(1, $) : ivl_futex_wait(word, value))
#define ivl_futex_wake(word, count) ivl_model_futex::current->wake(word, count)
#define ivl_futex_wake_beside(word) ivl_model_futex::current->wake(word, 1)

#endif
