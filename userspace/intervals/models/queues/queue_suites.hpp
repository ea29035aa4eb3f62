/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The suites that all queues run: an owner that puts and takes, thieves that steal,
 * a queue that has room for two elements at first. Afterwards every element has come
 * out: once, or at least once where the queue says so.
 */
#ifndef IVL_QUEUE_SUITES_HPP
#define IVL_QUEUE_SUITES_HPP

#include "queue_model.hpp"
#include "queue.h"

/*
 * Defined before this header is included: IVL_MODEL_OPS, the queue's table; and
 * IVL_MODEL_SIZE_LAGS where size() is exact only after the owner's next operation.
 */
#ifdef IVL_MODEL_SIZE_LAGS
const bool ivl_size_is_exact = false;
#else
const bool ivl_size_is_exact = true;
#endif

struct ivl_queue_suite_base {
	ivl_queue_base *queue;
	ivl_model_item items[MOST_ITEMS];
	int put_count;
	int before_count;		/* elements that were there before the threads */
	int removing;			/* threads inside take() or steal() */
	int thread_count;

	void start(int threads, int items_before)
	{
		ivl_model_object_count = 0;
		ivl_model_allocations = 0;
		memset((void *)ivl_model_reads, 0, sizeof(ivl_model_reads));
		for (auto &item : items)
			item.count = 0;
		put_count = 0;
		removing = 0;
		thread_count = threads;
		queue = IVL_MODEL_OPS.create(2, -1);
		while (put_count < items_before)
			put();
		before_count = items_before;
	}

	void put()
	{
		ivl_model_item *item = &items[put_count];

		item->payload($) = 1;
		RL_ASSERT(IVL_MODEL_OPS.put(queue, item) == 0);
		put_count++;
	}

	/* The queue was empty after the first puts: their elements are taken, or will be. */
	void check_empty()
	{
		int left = before_count;

		for (int i = 0; i < before_count; i++)
			left -= items[i].count > 0;
		RL_ASSERT(left <= removing);
	}

	void take()
	{
		void *element;

		removing++;
		element = IVL_MODEL_OPS.take(queue);
		removing--;
		if (element)
			ivl_model_deliver(element);
		else
			check_empty();
	}

	void steal(bool asks_size = false)
	{
		enum ivl_steal result;
		void *element = NULL;

		if (asks_size)
			IVL_MODEL_OPS.size(queue);
		removing++;
		result = IVL_MODEL_OPS.steal(queue, &element);
		removing--;
		if (result == IVL_STOLEN)
			ivl_model_deliver(element);
		else if (result == IVL_EMPTY)
			check_empty();
	}

	void finish()
	{
		void *element;
		size_t size = IVL_MODEL_OPS.size(queue), left = 0;

		for (; (element = IVL_MODEL_OPS.take(queue)); left++)
			ivl_model_deliver(element);
		RL_ASSERT(size == left || !ivl_size_is_exact);
		for (int i = 0; i < put_count; i++)
			RL_ASSERT(items[i].count == 1 ||
				  (IVL_MODEL_OPS.at_least_once && items[i].count > 1));
		IVL_MODEL_OPS.destroy(queue);
		RL_ASSERT(ivl_model_allocations == 0);
	}
};

/* What the owner does: 'p' puts, 't' takes. The thieves steal `steals` times each. */
template <const char *script, int items_before, int thieves, int steals>
struct ivl_scripted : rl::test_suite<ivl_scripted<script, items_before, thieves, steals>,
				     1 + thieves>,
		      ivl_queue_suite_base {
	void before() { start(1 + thieves, items_before); }
	void after() { finish(); }
	void thread(unsigned int index)
	{
		if (index) {
			for (int i = 0; i < steals; i++)
				steal();
			return;
		}
		for (const char *step = script; *step; step++)
			*step == 'p' ? put() : take();
	}
};

/* The owner puts and takes as it likes. */
template <int steps, int thieves, int steals>
struct ivl_random : rl::test_suite<ivl_random<steps, thieves, steals>, 1 + thieves>,
		    ivl_queue_suite_base {
	void before() { start(1 + thieves, 0); }
	void after() { finish(); }
	void thread(unsigned int index)
	{
		for (int i = 0; index && i < steals; i++)
			steal(true);
		for (int i = 0; !index && i < steps; i++)
			rl::rand(3) ? put() : take();
	}
};

/*
 * Of the anchored queues: the owner leaves an array, and the second time it does it comes
 * back, while a thief stands still inside.
 */
struct ivl_comes_back : rl::test_suite<ivl_comes_back, 2>, ivl_queue_suite_base {
	static const int SWITCHES = 3;

	void before()
	{
		start(2, 0);
		for (int i = 0; i < 4; i++) {
			put();
			take();
		}
		put();
	}
	void after() { finish(); }
	void thread(unsigned int index)
	{
		if (index) {
			steal();
			return;
		}
		take();
		put();
		take();
		put();
	}
};

/*
 * In ivl_anchored_enter(), T2: in relacy T1 before it already shows all that O1 stored. The first
 * load: relacy lets a thread use an atomic whose construction it has not seen. In
 * ivl_anchored_leave(): a relacy thread never reads a value written after its own write.
 */
#define IVL_ANCHORED_UNNEEDED \
	"ivl_anchored_enter seq_cst acq_rel", "ivl_anchored_enter acquire relaxed", \
	"ivl_anchored_leave release relaxed"

/* The owner's steps that have found defects: few elements, full, wrap and grow. */
inline constexpr char ivl_last_one[] = "tpt";
inline constexpr char ivl_two[] = "pptt";
inline constexpr char ivl_again[] = "pptpp";
inline constexpr char ivl_wrap[] = "pptpptt";
inline constexpr char ivl_grow[] = "ppppttptp";
inline constexpr char ivl_four[] = "pppp";
inline constexpr char ivl_tags[] = "ptptptptptptp";

#define IVL_QUEUE_SUITES \
	ivl_scripted<ivl_last_one, 1, 2, 2>, ivl_scripted<ivl_two, 0, 1, 2>, \
		ivl_scripted<ivl_two, 1, 2, 2>, ivl_scripted<ivl_four, 4, 2, 3>, \
		ivl_scripted<ivl_again, 0, 2, 2>, ivl_scripted<ivl_wrap, 1, 2, 2>, \
		ivl_scripted<ivl_grow, 0, 2, 2>, ivl_scripted<ivl_tags, 0, 2, 2>, \
		ivl_random<8, 2, 3>

#endif
