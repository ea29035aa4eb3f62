// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The queues under threads: an owner that puts and takes in bursts, thieves, a queue
 * that begins with two slots. The models check the orderings; this checks the real
 * compiler, memory and scheduler.
 */

#include "test.h"

#include "pool.h"
#include "test_allocation.h"

#ifdef __SANITIZE_THREAD__
#define ITEMS 8000u
#else
#define ITEMS 200000u
#endif
#define MOST_THIEVES 64

struct item {
	uint64_t contents;		/* written by the owner before put */
	_Atomic unsigned int count;	/* how often it was taken or stolen */
};

/* The queue alone, which may give an element twice, or the pool, which never does. */
struct stress {
	const struct ivl_queue_ops *ops;
	struct ivl_queue_base *queue;
	struct ivl_pool *pool;		/* NULL: the queue alone */
	struct item *items;
	_Atomic bool done;
	_Atomic unsigned int wrong;
};

static void deliver(struct stress *stress, void *element)
{
	struct item *item = element;

	if (item->contents != (uint64_t)(item - stress->items) + 1)
		stress->wrong++;
	item->count++;
}

static int put(struct stress *stress, void *element)
{
	return stress->pool ? ivl_pool_put(stress->pool, element) :
			      stress->ops->put(stress->queue, element);
}

static void *take(struct stress *stress)
{
	return stress->pool ? ivl_pool_take(stress->pool) : stress->ops->take(stress->queue);
}

static enum ivl_steal steal(struct stress *stress, void **element)
{
	return stress->pool ? ivl_pool_steal(stress->pool, element) :
			      stress->ops->steal(stress->queue, element);
}

THREAD(thief, struct stress *stress)
{
	while (!stress->done) {
		enum ivl_steal result;
		void *element;

		result = steal(stress, &element);
		if (result == IVL_STOLEN)
			deliver(stress, element);
		else
			sched_yield();
	}
}

/* With `scarce` memory every other burst of puts finds none. Returns how many puts failed. */
static unsigned int own(struct stress *stress, bool scarce)
{
	uint32_t random = 1;
	unsigned int next = 0, failures = 0;
	void *element;

	while (next < ITEMS) {
		random = random * 1103515245 + 12345;
		if (scarce)
			test_allocations_left = random >> 28 & 1 ? 0 : -1;
		/* Few at a time, and sometimes more than a node of the list deque has. */
		for (unsigned int puts = random >> 16 & (random >> 29 ? 15 : 1023);
		     puts-- && next < ITEMS;) {
			stress->items[next].contents = next + 1;
			if (put(stress, &stress->items[next])) {
				failures++;
				break;
			}
			next++;
		}
		for (unsigned int takes = random >> 20 & 15; takes--;)
			if ((element = take(stress)))
				deliver(stress, element);
	}
	test_allocations_left = -1;
	while ((element = take(stress)))
		deliver(stress, element);
	return failures;
}

static unsigned int run(enum ivl_queue kind, bool as_pool, unsigned int thieves, bool scarce)
{
	struct stress stress = { .ops = ivl_queue_kinds[kind] };
	pthread_t threads[MOST_THIEVES];
	unsigned int failures;

	stress.items = calloc(ITEMS, sizeof(*stress.items));
	assert_non_null(stress.items);
	if (as_pool)
		assert_int_equal(ivl_pool_create(kind, 2, -1, &stress.pool), 0);
	else
		assert_non_null(stress.queue = stress.ops->create(2, -1));
	for (unsigned int i = 0; i < thieves; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thief, &stress), 0);
	failures = own(&stress, scarce);
	stress.done = true;
	for (unsigned int i = 0; i < thieves; i++)
		pthread_join(threads[i], NULL);

	assert_int_equal(stress.wrong, 0);
	for (unsigned int i = 0; i < ITEMS; i++) {
		assert_true(stress.items[i].count >= 1);
		if (as_pool || !stress.ops->at_least_once)
			assert_int_equal(stress.items[i].count, 1);
	}
	if (as_pool)
		ivl_pool_destroy(stress.pool);
	else
		stress.ops->destroy(stress.queue);
	free(stress.items);
	return failures;
}

TEST(two_thieves)
{
	for (enum ivl_queue kind = 0; kind < IVL_QUEUES; kind++) {
		run(kind, false, 2, false);
		run(kind, true, 2, false);
	}
}

TEST(no_thief)
{
	for (enum ivl_queue kind = 0; kind < IVL_QUEUES; kind++)
		run(kind, true, 0, false);
}

TEST(oversubscribed)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (enum ivl_queue kind = 0; kind < IVL_QUEUES; kind++)
		run(kind, true, cpus * 8 < MOST_THIEVES ? (unsigned int)cpus * 8 : MOST_THIEVES,
		    false);
}

TEST(one_cpu)
{
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (enum ivl_queue kind = 0; kind < IVL_QUEUES; kind++)
		run(kind, true, 4, false);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

TEST(no_memory)
{
	struct ivl_pool *pool;

	for (enum ivl_queue kind = 0; kind < IVL_QUEUES; kind++) {
		unsigned int allocations = 0;

		/* Each of the allocations of create() fails once. */
		for (test_allocations_left = 0; ivl_pool_create(kind, 2, -1, &pool); allocations++)
			test_allocations_left = (int)allocations + 1;
		test_allocations_left = -1;
		assert_true(allocations >= 3);
		ivl_pool_destroy(pool);
		assert_true(run(kind, true, 0, true) > 0);
		assert_true(run(kind, false, 0, true) > 0 || kind == IVL_QUEUE_SHARED);
		/* Thieves may be so fast that no put needs memory. */
		run(kind, false, 2, true);
	}
}

/* The order in which 1, 2, 3 are taken, and stolen. */
TEST(order)
{
	static const struct {
		int take, steal;
	} expected[IVL_QUEUES] = {
		[IVL_QUEUE_CHASE_LEV] = { 3, 1 },
		[IVL_QUEUE_LAZY] = { 3, 1 },
		[IVL_QUEUE_IDEMPOTENT_LIFO] = { 3, 3 },
		[IVL_QUEUE_IDEMPOTENT_FIFO] = { 1, 1 },
		[IVL_QUEUE_IDEMPOTENT_DEQUE] = { 3, 1 },
		[IVL_QUEUE_DYNAMIC] = { 3, 1 },
		[IVL_QUEUE_DUPLICATING] = { 3, 1 },
		[IVL_QUEUE_SHARED] = { 1, 1 },
	};
	int items[4];

	for (enum ivl_queue kind = 0; kind < IVL_QUEUES; kind++) {
		struct ivl_pool *pool;
		void *element;

		assert_int_equal(ivl_pool_create(kind, 2, -1, &pool), 0);
		for (int round = 0; round < 2; round++) {
			assert_null(ivl_pool_take(pool));
			assert_int_equal(ivl_pool_steal(pool, &element), IVL_EMPTY);
			for (int i = 1; i <= 3; i++) {
				assert_int_equal(ivl_pool_put(pool, &items[i]), 0);
				assert_int_equal(ivl_pool_size(pool), i);
			}
			if (round) {
				assert_int_equal(ivl_pool_steal(pool, &element), IVL_STOLEN);
				assert_ptr_equal(element, &items[expected[kind].steal]);
			} else {
				assert_ptr_equal(ivl_pool_take(pool), &items[expected[kind].take]);
			}
			assert_int_equal(ivl_pool_size(pool), 2);
			assert_non_null(ivl_pool_take(pool));
			assert_non_null(ivl_pool_take(pool));
			assert_null(ivl_pool_take(pool));
			assert_int_equal(ivl_pool_size(pool), 0);
		}
		ivl_pool_destroy(pool);
	}
}

TEST(names)
{
	for (enum ivl_queue kind = 0; kind < IVL_QUEUES; kind++)
		for (enum ivl_queue other = 0; other < kind; other++)
			assert_string_not_equal(ivl_queue_name(kind), ivl_queue_name(other));
	assert_null(ivl_queue_name(IVL_QUEUES));
}

TEST_MAIN(NULL, NULL)
