/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In the models' place of liburcu: callbacks run when no thread is inside a read-side
 * critical section. Those that enter one later see what was done before call_rcu().
 */
#ifndef IVL_MODEL_URCU_MEMB_H
#define IVL_MODEL_URCU_MEMB_H

#include <cstddef>

#include "atomics.h"

struct rcu_head {
	void (*callback)(struct rcu_head *head);
	struct rcu_head *next;
};

struct ivl_model_rcu {
	unsigned int threads;		/* of the suite */
	unsigned int readers;		/* inside a critical section */
	struct rcu_head *retired;
	/* relacy's time of each thread: before the last call_rcu(), the last grace period. */
	rl::timestamp_t called[8], passed[8];
};

inline ivl_model_rcu ivl_rcu;

inline void ivl_model_rcu_start(unsigned int threads)
{
	ivl_rcu = {};
	ivl_rcu.threads = threads;
}

inline void ivl_model_rcu_run()
{
	struct rcu_head *head;

	if (ivl_rcu.readers || !ivl_rcu.retired)
		return;
	memcpy(ivl_rcu.passed, ivl_rcu.called, sizeof(ivl_rcu.passed));
	while ((head = ivl_rcu.retired)) {
		ivl_rcu.retired = head->next;
		head->callback(head);
	}
}

inline void urcu_memb_call_rcu(struct rcu_head *head, void (*callback)(struct rcu_head *head))
{
	head->callback = callback;
	head->next = ivl_rcu.retired;
	ivl_rcu.retired = head;
	for (unsigned int i = 0; i < ivl_rcu.threads; i++)
		ivl_rcu.called[i] = std::max(ivl_rcu.called[i], rl::ctx().threadx_->acq_rel_order_[i]);
	ivl_model_rcu_run();
}

inline void urcu_memb_read_lock()
{
	rl::timestamp_t *sees = rl::ctx().threadx_->acq_rel_order_;

	ivl_rcu.readers++;
	for (unsigned int i = 0; i < ivl_rcu.threads; i++)
		sees[i] = std::max(sees[i], ivl_rcu.passed[i]);
}

inline void urcu_memb_read_unlock()
{
	ivl_rcu.readers--;
	ivl_model_rcu_run();
}

#define caa_container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#endif
