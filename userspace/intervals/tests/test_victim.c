// SPDX-License-Identifier: LGPL-2.1-or-later
/* Victims: every worker is tried, near before far, loaded before empty. */
#include "test_place.h"

#include "steal_backoff.h"
#include "test_allocation.h"
#include "tunables.h"
#include "victim.h"

#define MACHINE "package:2 l3:2 core:4 pu:1"	/* 16 CPUs, 4 of them share a cache */
#define WORKERS 16

static void end_chooser(struct ivl_chooser **chooser)
{
	ivl_chooser_destroy(*chooser);
}

/* chooser_of(), until the end of the block. */
#define CHOOSER(name, ...) \
	__attribute__((cleanup(end_chooser))) struct ivl_chooser *name = chooser_of(__VA_ARGS__)

static struct ivl_chooser *chooser_of(const struct ivl_topology *t, enum ivl_victims victims,
				      struct ivl_stealability *mask, unsigned int worker,
				      uint64_t seed)
{
	const struct ivl_config config = { .victims = victims, .cross_place = true, .seed = seed };
	struct ivl_chooser *chooser = ivl_chooser_create(&config, t, mask,
							 ivl_topology_place(t, worker), worker);

	assert_non_null(chooser);
	return chooser;
}

/* A whole round: each victim at most once, then none. */
static unsigned int round_of(struct ivl_chooser *chooser, int *order)
{
	bool named[WORKERS] = { false };
	unsigned int count = 0;
	int victim;

	ivl_chooser_begin(chooser);
	while ((victim = ivl_chooser_next(chooser)) >= 0) {
		assert_true(victim < WORKERS);
		assert_false(named[victim]);
		named[victim] = true;
		order[count++] = victim;
	}
	assert_int_equal(ivl_chooser_next(chooser), -1);
	return count;
}

static bool is_in(const int *order, unsigned int count, int victim)
{
	for (unsigned int i = 0; i < count; i++)
		if (order[i] == victim)
			return true;
	return false;
}

TEST(random)
{
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);
	unsigned int at[WORKERS][WORKERS] = { { 0 } };	/* [position][victim] */
	CHOOSER(chooser, t, IVL_VICTIMS_RANDOM, NULL, 5, 1);
	const unsigned int rounds = 15000, mean = rounds / (WORKERS - 1);
	int order[WORKERS];

	for (unsigned int i = 0; i < rounds; i++) {
		assert_int_equal(round_of(chooser, order), WORKERS - 1);
		assert_false(is_in(order, WORKERS - 1, 5));
		for (unsigned int j = 0; j < WORKERS - 1; j++)
			at[j][order[j]]++;
	}
	/* Each victim at each position: 1000 times; the standard deviation is 31. */
	for (unsigned int i = 0; i < WORKERS - 1; i++)
		for (unsigned int victim = 0; victim < WORKERS; victim++)
			if (victim != 5)
				assert_in_range(at[i][victim], mean - 200, mean + 200);
}

TEST(seed)
{
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);
	CHOOSER(a, t, IVL_VICTIMS_RANDOM, NULL, 3, 42);
	CHOOSER(b, t, IVL_VICTIMS_RANDOM, NULL, 3, 42);
	CHOOSER(other_seed, t, IVL_VICTIMS_RANDOM, NULL, 3, 43);
	CHOOSER(other_worker, t, IVL_VICTIMS_RANDOM, NULL, 4, 42);
	int first[WORKERS], order[WORKERS];
	unsigned int differs[2] = { 0 };

	for (unsigned int i = 0; i < 100; i++) {
		round_of(a, first);
		round_of(b, order);
		assert_memory_equal(first, order, (WORKERS - 1) * sizeof(*order));
		round_of(other_seed, order);
		differs[0] += memcmp(first, order, 4 * sizeof(*order)) != 0;
		round_of(other_worker, order);
		differs[1] += memcmp(first, order, 4 * sizeof(*order)) != 0;
	}
	assert_true(differs[0] > 90);
	assert_true(differs[1] > 90);
}

/* Of worker 5: its cache 4 to 7, its package 0 to 7. */
static unsigned int distance_from_5(int victim)
{
	if (victim / 4 == 1)
		return 0;
	return victim / 8 == 0 ? 1 : 2;
}

TEST(domains)
{
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);
	CHOOSER(chooser, t, IVL_VICTIMS_DOMAINS, NULL, 5, 1);
	unsigned int first[WORKERS] = { 0 };
	int order[WORKERS];

	for (unsigned int i = 0; i < 3000; i++) {
		assert_int_equal(round_of(chooser, order), WORKERS - 1);
		for (unsigned int j = 1; j < WORKERS - 1; j++)
			assert_true(distance_from_5(order[j - 1]) <= distance_from_5(order[j]));
		first[order[0]]++;
		first[order[3]]++;
		first[order[7]]++;
	}
	/* At random inside of each domain: 1000, 750 and 375 times. */
	for (int victim = 0; victim < WORKERS; victim++) {
		static const unsigned int expected[] = { 1000, 750, 375 };
		unsigned int distance = distance_from_5(victim);

		if (victim != 5)
			assert_in_range(first[victim], expected[distance] - 150,
					expected[distance] + 150);
	}
}

TEST(own_place)
{
	static const enum ivl_victims policies[] = { IVL_VICTIMS_RANDOM, IVL_VICTIMS_DOMAINS };
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);
	int order[WORKERS];

	for (size_t i = 0; i < 2; i++) {
		const struct ivl_config config = { .victims = policies[i] };
		struct ivl_chooser *chooser = ivl_chooser_create(&config, t, NULL,
								 ivl_topology_place(t, 5), 5);

		assert_int_equal(round_of(chooser, order), 3);
		assert_true(is_in(order, 3, 4) && is_in(order, 3, 6) && is_in(order, 3, 7));
		ivl_chooser_destroy(chooser);
	}
}

/* Go on to a victim and succeed with it. */
static void succeed_with(struct ivl_chooser *chooser, int wanted)
{
	int victim;

	ivl_chooser_begin(chooser);
	while ((victim = ivl_chooser_next(chooser)) != wanted)
		assert_true(victim >= 0);
	ivl_chooser_succeeded(chooser);
}

TEST(favourite)
{
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);
	CHOOSER(chooser, t, IVL_VICTIMS_RANDOM, NULL, 5, 1);
	unsigned int again = 0;
	int order[WORKERS];

	for (unsigned int i = 0; i < 1000; i++) {
		int wanted = (int)(i % 5);

		succeed_with(chooser, wanted);
		assert_int_equal(round_of(chooser, order), WORKERS - 1);
		assert_int_equal(order[0], wanted);
		/* It had no more work: it is a victim like any. */
		round_of(chooser, order);
		again += order[0] == wanted;
	}
	assert_in_range(again, 30, 110);

	/* With domains it is the first of its own domain. */
	CHOOSER(near_first, t, IVL_VICTIMS_DOMAINS, NULL, 5, 1);
	for (unsigned int i = 0; i < 100; i++) {
		succeed_with(near_first, 9);
		assert_int_equal(round_of(near_first, order), WORKERS - 1);
		assert_int_equal(order[7], 9);
		succeed_with(near_first, 6);
		round_of(near_first, order);
		assert_int_equal(order[0], 6);
	}
}

TEST(hysteresis)
{
	struct ivl_stealability *mask = ivl_stealability_create(200, 2, 5);
	static const struct {
		unsigned int length;
		bool stealable;
	} steps[] = {
		{ 0, false }, { 2, false }, { 3, false }, { 4, false }, { 5, true }, { 4, true },
		{ 3, true }, { 2, false }, { 4, false }, { 9, true }, { 3, true }, { 0, false },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		ivl_stealability_update(mask, 130, steps[i].length);
		for (unsigned int worker = 0; worker < 200; worker++)
			assert_int_equal(ivl_stealable(mask, worker),
					 worker == 130 && steps[i].stealable);
	}
	ivl_stealability_destroy(mask);
}

TEST(threshold)
{
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);
	struct ivl_stealability *mask = ivl_stealability_create(WORKERS, 1, 3);
	CHOOSER(chooser, t, IVL_VICTIMS_THRESHOLD, mask, 5, 1);
	int order[WORKERS];

	ivl_stealability_update(mask, 2, 3);
	ivl_stealability_update(mask, 5, 3);	/* the thief */
	ivl_stealability_update(mask, 9, 2);	/* too short */
	ivl_stealability_update(mask, 12, 8);
	/* One of every IVL_PATIENCE rounds without success tries all workers. */
	for (unsigned int i = 1; i <= 10 * IVL_PATIENCE; i++) {
		unsigned int count = round_of(chooser, order);

		assert_int_equal(count, i % IVL_PATIENCE ? 2 : WORKERS - 1);
		assert_true(is_in(order, count, 2) && is_in(order, count, 12));
	}
	/* Success begins the count anew. */
	for (unsigned int i = 0; i < 3 * IVL_PATIENCE; i++) {
		succeed_with(chooser, 12);
		assert_int_equal(round_of(chooser, order), 2);
		assert_int_equal(order[0], 12);
	}
	/* A favourite whose queue has become short is not tried. */
	succeed_with(chooser, 12);
	ivl_stealability_update(mask, 12, 1);
	assert_int_equal(round_of(chooser, order), 1);
	assert_int_equal(order[0], 2);
	ivl_stealability_destroy(mask);
}

/* With both, as in the thesis' Algorithm 2: another node is tried only if it has plenty. */
TEST(domains_with_mask)
{
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);
	struct ivl_stealability *mask = ivl_stealability_create(WORKERS, 1, 3);
	CHOOSER(chooser, t, IVL_VICTIMS_DOMAINS_THRESHOLD, mask, 5, 1);
	int order[WORKERS];

	ivl_stealability_update(mask, 14, 3);
	ivl_stealability_update(mask, 4, 3);
	for (unsigned int i = 1; i < IVL_PATIENCE; i++) {
		assert_int_equal(round_of(chooser, order), 2);
		assert_int_equal(order[0], 4);
		assert_int_equal(order[1], 14);
	}
	assert_int_equal(round_of(chooser, order), WORKERS - 1);
	ivl_stealability_destroy(mask);
}

TEST(alone)
{
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 1);
	int order[WORKERS];

	for (int victims = 0; victims < IVL_VICTIM_POLICIES; victims++) {
		CHOOSER(chooser, t, victims, NULL, 0, 1);

		assert_int_equal(round_of(chooser, order), 0);
		assert_int_equal(round_of(chooser, order), 0);
	}
}

/* Trifling steals make it pause, twice as long each time, until a steal is worth it. */
static void test_trifles(void)
{
	struct ivl_steal_backoff of = { 0 };
	uint64_t pause = IVL_LEAST_PAUSE_NS;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(ivl_pause_after(&of, 50), pause);
		if (pause < IVL_LONGEST_PAUSE_NS)
			pause *= 2;
	}
	assert_int_equal(ivl_pause_after(&of, IVL_STEAL_WORTH_NS), 0);
	assert_int_equal(ivl_pause_after(&of, IVL_STEAL_WORTH_NS - 1), IVL_LEAST_PAUSE_NS);
}

/* If one steal in eight is long, or one in many very long, it never pauses. */
static void test_few_pay_for_many(void)
{
	struct ivl_steal_backoff of = { 0 };

	assert_int_equal(ivl_pause_after(&of, 8 * IVL_STEAL_WORTH_NS), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ivl_pause_after(&of, i % 8 ? 0 : 8 * IVL_STEAL_WORTH_NS), 0);
	/* The pause is bounded. */
	assert_int_equal(ivl_pause_after(&of, 1000000000), 0);
	for (int i = 0; i < IVL_MOST_GAINED_NS / IVL_STEAL_WORTH_NS; i++)
		assert_int_equal(ivl_pause_after(&of, 0), 0);
	assert_int_equal(ivl_pause_after(&of, 0), IVL_LEAST_PAUSE_NS);
}

TEST(hesitation)
{
	test_trifles();
	test_few_pay_for_many();
}

TEST(no_memory)
{
	const struct ivl_config config = { .victims = IVL_VICTIMS_RANDOM };
	TEST_TOPOLOGY(t, MACHINE, IVL_PLACES_LLC, 0);

	test_allocations_left = 0;
	assert_null(ivl_chooser_create(&config, t, NULL, ivl_topology_place(t, 0), 0));
	assert_null(ivl_stealability_create(WORKERS, 1, 2));
	test_allocations_left = -1;
	ivl_chooser_destroy(NULL);
	ivl_stealability_destroy(NULL);
}

TEST_MAIN(NULL, NULL)
