// SPDX-License-Identifier: GPL-2.0
/* The bus: its slots alone, and what waiting for it costs the CPUs. */
#include "test_machine.h"

#include <stdlib.h>
#include <string.h>

#include "bus.h"

#define SLOTS (BUS_WORDS * 64ull)

static struct bus *new_bus(uint64_t slot)
{
	struct bus *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->slot = slot;
	return b;
}

TEST(lines_at_one_time_come_one_after_the_other)
{
	struct bus *b = new_bus(10);

	assert_int_equal(bus_take(b, 1003), 0);	/* slot 1000 */
	assert_int_equal(bus_take(b, 1003), 7);	/* 1010 */
	assert_int_equal(bus_take(b, 1003), 17);
	assert_int_equal(bus_take(b, 1035), 0);	/* 1030 is free */
	assert_int_equal(bus_take(b, 1029), 11);	/* behind that one */
	free(b);
}

TEST(who_comes_later_may_be_earlier)
{
	struct bus *b = new_bus(10);

	for (uint64_t time = 5000; time < 5100; time += 10)
		assert_int_equal(bus_take(b, time), 0);
	/* Another CPU's turn, from an earlier time on: nothing there is taken. */
	assert_int_equal(bus_take(b, 4000), 0);
	assert_int_equal(bus_take(b, 4990), 0);
	assert_int_equal(bus_take(b, 4990), 110);
	free(b);
}

TEST(slots_are_found_across_words)
{
	struct bus *b = new_bus(1);

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(bus_take(b, 50), i);
	assert_int_equal(bus_take(b, 49), 0);
	assert_int_equal(bus_take(b, 49), 1001);
	free(b);
}

TEST(the_map_forgets_what_is_long_ago)
{
	struct bus *b = new_bus(1);

	/* The window reaches back from the end of the last word that was looked at. */
	assert_int_equal(bus_take(b, 100), 0);
	assert_int_equal(bus_take(b, SLOTS + 63), 0);
	assert_int_equal(bus_take(b, 100), 1);	/* remembered */
	/* Its word is now that of the bits before: no trace of them. */
	assert_int_equal(bus_take(b, SLOTS + 100), 0);
	assert_int_equal(bus_take(b, 100), 0);	/* forgotten: taken for free, */
	assert_int_equal(bus_take(b, 100), 0);	/* and nothing is kept of it */
	assert_int_equal(bus_take(b, SLOTS + 100), 1);
	/* A leap over more than the whole map. */
	assert_int_equal(bus_take(b, 10 * SLOTS + 100), 0);
	for (uint64_t time = 9 * SLOTS + 192; time < 10 * SLOTS + 100; time++)
		assert_int_equal(bus_take(b, time), 0);
	free(b);
}

/* Against a map that never forgets, in the order in which turns bring requests. */
TEST(random_turns_never_share_a_slot)
{
	enum { SLOT = 26, CPUS = 4, QUANTUM = 2000, QUANTA = 200 };
	static uint8_t taken[CPUS * QUANTUM * QUANTA];
	struct bus *b = new_bus(SLOT);

	srand(1);
	for (uint64_t start = 0; start < QUANTA * QUANTUM; start += QUANTUM) {
		for (int cpu = 0; cpu < CPUS; cpu++) {
			uint64_t time = start;

			while (time < start + QUANTUM) {
				uint64_t slot = time / SLOT, wait = bus_take(b, time);

				while (taken[slot])
					slot++;
				taken[slot] = 1;
				assert_int_equal((time + wait) / SLOT, slot);
				time += wait + rand() % 150;
			}
		}
	}
	free(b);
}

#define CYCLES(n) ((n) * (uint64_t)CACHESIM_CYCLE)

static struct cachesim_machine with_bus(uint32_t bus)
{
	struct cachesim_machine m = tiny;

	m.bus = bus;
	return m;
}

MODEL_TEST(a_miss_waits_for_the_bus)
{
	const struct cachesim_machine m = with_bus(30);

	cs = model(&m, 2);
	cachesim_load(cs, 0, 0x1000, 8);	/* asks for the bus at 11: the slot from 0 */
	assert_int_equal(cachesim_clocks(cs)[0], CYCLES(111));
	assert_count(cs, 0, bus_wait_cycles, 0);
	cachesim_load(cs, 1, 0x2000, 8);	/* at 11, too: the slot from 30 */
	assert_int_equal(cachesim_clocks(cs)[1], CYCLES(111 + 19));
	assert_count(cs, 1, bus_wait_cycles, CYCLES(19));
	assert_count(cs, 1, stall_cycles, CYCLES(111 + 19));
	assert_count(cs, 1, cycles, CYCLES(111 + 19));
	cachesim_load(cs, 1, 0x2040, 8);	/* the line's other half is in the L2 */
	assert_int_equal(cachesim_clocks(cs)[1], CYCLES(111 + 19 + 1));
	assert_count(cs, 1, bus_wait_cycles, CYCLES(19));
}

MODEL_TEST(a_line_from_another_cache_takes_the_bus_and_an_upgrade_does_not)
{
	const struct cachesim_machine m = with_bus(30);
	uint64_t *clocks;

	cs = model(&m, 3);
	clocks = cachesim_clocks(cs);
	cachesim_store(cs, 0, 0x1000, 8);
	clocks[1] = clocks[2] = CYCLES(3000);
	cachesim_load(cs, 1, 0x1000, 8);	/* 0 has it Modified */
	cachesim_load(cs, 2, 0x2000, 8);
	assert_count(cs, 1, cache_to_cache, 1);
	assert_count(cs, 2, bus_wait_cycles, CYCLES(19));
	clocks[0] = clocks[1] = CYCLES(6000);
	cachesim_store(cs, 0, 0x1000, 8);
	assert_count(cs, 0, bus_requests, 2);
	cachesim_load(cs, 1, 0x3000, 8);
	assert_count(cs, 1, bus_wait_cycles, 0);
}

MODEL_TEST(a_write_back_takes_the_bus_and_nobody_waits_for_it)
{
	const struct cachesim_machine m = with_bus(1000);
	uint64_t *clock;

	cs = model(&m, 1);
	clock = cachesim_clocks(cs);
	cachesim_store(cs, 0, 0, 8);
	for (uint64_t a = 256; a < 8 * 256; a += 256) {
		*clock = CYCLES(a * 1000);
		cachesim_load(cs, 0, a, 8);
	}
	*clock = CYCLES(10000000);
	cachesim_load(cs, 0, 8 * 256, 8);	/* the slot from there, and the next: a write-back */
	assert_count(cs, 0, writebacks, 1);
	assert_count(cs, 0, bus_wait_cycles, 0);
	assert_int_equal(*clock, CYCLES(10000000 + 111));
	cachesim_load(cs, 0, 9 * 256, 8);
	assert_count(cs, 0, bus_wait_cycles, CYCLES(2000 - 111 - 11));
}

MODEL_TEST(each_cluster_has_a_bus)
{
	struct cachesim_machine m = with_bus(30);

	m.clusters = 2;
	cs = model(&m, 4);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		cachesim_load(cs, cpu, 0x1000 * (cpu + 1), 8);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		assert_count(cs, cpu, bus_wait_cycles, cpu % 2 ? CYCLES(19) : 0);
}

MODEL_TEST(without_a_bus_nobody_waits)
{
	cs = model(&tiny, 8);
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		cachesim_load(cs, cpu, 0x1000 * (cpu + 1), 8);
		assert_int_equal(cachesim_clocks(cs)[cpu], CYCLES(111));
	}
}

RUN_TESTS(NULL, NULL)
