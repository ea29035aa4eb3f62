// SPDX-License-Identifier: GPL-2.0
/* One CPU: replacement, inclusion, write policies, line crossing, cycles, bad machines. */
#include "test_machine.h"

static void lru_evicts_the_line_used_longest_ago(void **state)
{
	struct cachesim *cs = model(&tiny, 1);

	(void)state;
	cachesim_load(cs, 0, 0, 8);
	cachesim_load(cs, 0, 128, 8);
	cachesim_load(cs, 0, 0, 8);	/* hit: 128 is now the oldest */
	cachesim_load(cs, 0, 256, 8);	/* third line of the set */
	assert_state(cs, 0, L1D, 0, S);
	assert_state(cs, 0, L1D, 128, I);
	assert_state(cs, 0, L1D, 256, S);
	assert_count(cs, 0, l1d_references, 4);
	assert_count(cs, 0, l1d_misses, 3);
	assert_count(cs, 0, l2_references, 3);
	assert_count(cs, 0, l2_misses, 3);
	cachesim_free(cs);
}

static void fifo_evicts_the_line_filled_longest_ago(void **state)
{
	struct cachesim_machine fifo = tiny;
	struct cachesim *cs;

	(void)state;
	fifo.l1d.replacement = CACHESIM_FIFO;
	cs = model(&fifo, 1);
	cachesim_load(cs, 0, 0, 8);
	cachesim_load(cs, 0, 128, 8);
	cachesim_load(cs, 0, 0, 8);
	cachesim_load(cs, 0, 256, 8);
	assert_state(cs, 0, L1D, 0, I);
	assert_state(cs, 0, L1D, 128, S);
	cachesim_free(cs);
}

static void each_level_remembers_what_the_one_above_lost(void **state)
{
	struct cachesim *cs = model(&tiny, 1);

	(void)state;
	for (uint64_t a = 0; a < 4 * 256; a += 256)	/* fills one L2 set */
		cachesim_load(cs, 0, a, 8);
	cachesim_zero_counts(cs);
	cachesim_load(cs, 0, 0, 8);	/* left the L1D long ago */
	assert_count(cs, 0, l1d_misses, 1);
	assert_count(cs, 0, l2_references, 1);
	assert_count(cs, 0, l2_misses, 0);
	cachesim_load(cs, 0, 4 * 256, 8);	/* a fifth line: 256, now the oldest, leaves the L2 */
	assert_state(cs, 0, L2, 256, I);
	cachesim_load(cs, 0, 256, 8);
	assert_count(cs, 0, l2_misses, 2);
	assert_count(cs, 0, l3_references, 2);
	assert_count(cs, 0, l3_misses, 1);
	assert_count(cs, 0, bus_requests, 1);
	cachesim_free(cs);
}

static void l2_eviction_takes_both_halves_from_both_l1s(void **state)
{
	struct cachesim_machine wide = tiny;
	struct cachesim *cs;
	uint64_t halves[] = { 0, 1 };

	(void)state;
	wide.l1i.size = wide.l1d.size = 16 * 64;	/* 2 sets of 8: no eviction of its own */
	wide.l1i.ways = wide.l1d.ways = 8;
	cs = model(&wide, 1);
	cachesim_load(cs, 0, 0, 8);
	cachesim_load(cs, 0, 64, 8);
	cachesim_execute(cs, 0, CACHESIM_KERNEL, 2, halves, 2);
	for (uint64_t a = 256; a < 4 * 256; a += 256)
		cachesim_load(cs, 0, a, 8);
	assert_state(cs, 0, L1D, 0, S);
	assert_state(cs, 0, L1D, 64, S);
	cachesim_load(cs, 0, 4 * 256, 8);
	assert_state(cs, 0, L2, 0, I);
	assert_state(cs, 0, L1D, 0, I);
	assert_state(cs, 0, L1D, 64, I);
	assert_state(cs, 0, L1I, 0, I);
	assert_state(cs, 0, L1I, 64, I);
	assert_state(cs, 0, L3, 0, E);
	assert_state(cs, 0, L1D, 4 * 256, S);
	cachesim_free(cs);
}

static void l3_eviction_takes_the_line_from_the_l2_too(void **state)
{
	struct cachesim_machine m = tiny;
	struct cachesim *cs;

	(void)state;
	m.l2.size = 4096;	/* 2 sets of 16: more than the L3 */
	m.l2.ways = 16;
	cs = model(&m, 1);
	for (uint64_t a = 0; a < 8 * 256; a += 256)
		cachesim_load(cs, 0, a, 8);
	assert_state(cs, 0, L2, 0, E);
	cachesim_load(cs, 0, 8 * 256, 8);
	assert_state(cs, 0, L3, 0, I);
	assert_state(cs, 0, L2, 0, I);
	assert_count(cs, 0, writebacks, 0);
	cachesim_free(cs);
}

static void a_modified_line_is_written_back_once_when_the_l3_evicts_it(void **state)
{
	struct cachesim *cs = model(&tiny, 1);

	(void)state;
	cachesim_store(cs, 0, 0, 8);
	for (uint64_t a = 256; a < 8 * 256; a += 256)
		cachesim_load(cs, 0, a, 8);
	assert_count(cs, 0, writebacks, 0);	/* out of the L2, still in the L3 */
	assert_state(cs, 0, L3, 0, M);
	cachesim_load(cs, 0, 8 * 256, 8);
	assert_count(cs, 0, writebacks, 1);
	assert_count(cs, 0, l3_misses, 9);
	assert_count(cs, 0, bus_requests, 10);
	cachesim_free(cs);
}

static void write_through_stores_are_l2_references_and_allocate_nothing(void **state)
{
	struct cachesim *cs = model(&tiny, 1);

	(void)state;
	cachesim_store(cs, 0, 0, 8);
	assert_state(cs, 0, L1D, 0, I);
	assert_state(cs, 0, L2, 0, M);
	cachesim_load(cs, 0, 0, 8);
	cachesim_store(cs, 0, 0, 8);
	cachesim_store(cs, 0, 0, 8);
	assert_count(cs, 0, l1d_references, 4);
	assert_count(cs, 0, l1d_misses, 2);	/* the first store, the load */
	assert_count(cs, 0, l2_references, 4);
	assert_count(cs, 0, l2_misses, 1);
	assert_count(cs, 0, bus_requests, 1);
	cachesim_free(cs);
}

static void write_back_stores_stay_in_the_l1d(void **state)
{
	struct cachesim_machine back = tiny;
	struct cachesim *cs;

	(void)state;
	back.l1d.write = CACHESIM_WRITE_BACK;
	cs = model(&back, 1);
	cachesim_store(cs, 0, 0, 8);
	assert_state(cs, 0, L1D, 0, M);
	cachesim_store(cs, 0, 8, 8);
	cachesim_load(cs, 0, 16, 8);
	assert_count(cs, 0, l1d_references, 3);
	assert_count(cs, 0, l1d_misses, 1);
	assert_count(cs, 0, l2_references, 1);
	cachesim_load(cs, 0, 128, 8);	/* Exclusive, then silently Modified everywhere */
	assert_state(cs, 0, L1D, 128, E);
	cachesim_store(cs, 0, 128, 8);
	assert_state(cs, 0, L1D, 128, M);
	assert_state(cs, 0, L2, 128, M);
	assert_state(cs, 0, L3, 128, M);
	assert_count(cs, 0, l2_references, 2);
	assert_count(cs, 0, bus_requests, 2);
	cachesim_free(cs);
}

static void an_access_counts_every_line_it_touches(void **state)
{
	struct cachesim *cs = model(&tiny, 1);

	(void)state;
	cachesim_load(cs, 0, 56, 8);
	assert_count(cs, 0, l1d_references, 1);
	cachesim_load(cs, 0, 57, 8);
	assert_count(cs, 0, l1d_references, 3);
	assert_count(cs, 0, l1d_misses, 2);
	assert_count(cs, 0, l2_misses, 1);	/* both halves of one L2 line */
	cachesim_store(cs, 0, 127, 2);
	assert_count(cs, 0, l1d_references, 5);
	assert_count(cs, 0, l2_references, 4);
	assert_count(cs, 0, l2_misses, 2);
	cachesim_free(cs);
}

static void modes_and_instructions_are_counted_apart(void **state)
{
	struct cachesim *cs = model(&tiny, 2);
	uint64_t lines[] = { 10, 11, 10 };

	(void)state;
	cachesim_execute(cs, 1, CACHESIM_USER, 7, lines, 3);
	cachesim_load(cs, 1, 0, 8);
	cachesim_execute(cs, 1, CACHESIM_IDLE, 2, lines, 1);
	cachesim_load(cs, 1, 0, 8);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_USER)->instructions, 7);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_USER)->l1i_references, 3);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_USER)->l1i_misses, 2);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_USER)->l1d_misses, 1);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_IDLE)->instructions, 2);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_IDLE)->l1d_references, 1);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_IDLE)->l1d_misses, 0);
	assert_count(cs, 1, l1d_references, 0);
	assert_int_equal(cachesim_counts(cs, 0, CACHESIM_USER)->instructions, 0);
	cachesim_free(cs);
}

static void zeroing_keeps_the_lines_and_reset_does_not(void **state)
{
	struct cachesim *cs = model(&tiny, 2);

	(void)state;
	cachesim_load(cs, 0, 0, 8);
	cachesim_zero_counts(cs);
	cachesim_load(cs, 0, 0, 8);
	assert_count(cs, 0, l1d_references, 1);
	assert_count(cs, 0, l1d_misses, 0);
	cachesim_reset(cs);
	assert_count(cs, 0, l1d_references, 0);
	cachesim_load(cs, 1, 0, 8);
	assert_count(cs, 1, l3_misses, 1);
	assert_state(cs, 1, L3, 0, E);	/* the directory has forgotten CPU 0 too */
	cachesim_free(cs);
}

static void cycles_are_instructions_and_latencies(void **state)
{
	/* 2 upgrades: 9 requests - 5 L3 misses - 2 write-backs. */
	struct cachesim_counts n = {
		.instructions = 100, .l1i_misses = 3, .l1d_misses = 4, .l3_references = 6,
		.l3_misses = 5, .cache_to_cache = 2, .writebacks = 2, .bus_requests = 9,
	};

	(void)state;
	assert_int_equal(cachesim_cycles(&n, &tiny.latency),
			 100 + 7 * 1 + 6 * 10 + 3 * 100 + 2 * 1000 + 2 * 10000);
}

static void work(struct cachesim *cs, unsigned int cpu, unsigned int instructions)
{
	cachesim_turn(cs, cpu);
	cachesim_execute(cs, cpu, cpu == 3 ? CACHESIM_IDLE : CACHESIM_KERNEL, instructions, NULL, 0);
}

static void a_round_takes_as_long_as_its_longest_turn(void **state)
{
	struct cachesim *cs = model(&tiny, 4);

	(void)state;
	work(cs, 0, 10);
	work(cs, 1, 30);
	work(cs, 2, 20);
	work(cs, 3, 1000);	/* idle: no time */
	assert_int_equal(cachesim_elapsed(cs), 30);
	work(cs, 1, 5);
	assert_int_equal(cachesim_elapsed(cs), 35);
	work(cs, 2, 7);
	assert_int_equal(cachesim_elapsed(cs), 37);
	/* Its own successor: one after the other. */
	work(cs, 2, 7);
	work(cs, 2, 7);
	assert_int_equal(cachesim_elapsed(cs), 51);
	/* Misses take time too: one to memory. */
	cachesim_turn(cs, 0);
	cachesim_load(cs, 0, 0x1000, 8);
	assert_int_equal(cachesim_elapsed(cs), 51 + 1 + 10 + 100);
	cachesim_zero_counts(cs);
	assert_int_equal(cachesim_elapsed(cs), 0);
	work(cs, 1, 4);
	assert_int_equal(cachesim_elapsed(cs), 4);
	cachesim_free(cs);
}

static void adding_counts_adds_every_field(void **state)
{
	struct cachesim_counts sum, one;
	uint64_t *s = (uint64_t *)&sum, *o = (uint64_t *)&one;

	(void)state;
	for (size_t i = 0; i < sizeof(sum) / sizeof(*s); i++) {
		s[i] = 100 * i;
		o[i] = i + 1;
	}
	cachesim_add(&sum, &one);
	for (size_t i = 0; i < sizeof(sum) / sizeof(*s); i++)
		assert_int_equal(s[i], 101 * i + 1);
}

static void refused(const struct cachesim_machine *m, unsigned int cpus, const char *expected)
{
	const char *error;

	assert_null(cachesim_new(m, cpus, &error));
	assert_string_equal(error, expected);
}

static void machines_that_cannot_be_are_refused(void **state)
{
	struct cachesim_machine m = tiny;

	(void)state;
	refused(&tiny, 0, "the model takes 1 to 64 CPUs");
	refused(&tiny, 65, "the model takes 1 to 64 CPUs");
	m.l1d.line = 48;
	refused(&m, 1, "a level needs a size, ways, and a line that is a power of two");
	m = tiny;
	m.l2.size = 3 * 512;
	refused(&m, 1, "a level's size / (ways * line) must be a power of two");
	m = tiny;
	m.l3.line = 64;
	refused(&m, 1, "L2 and L3 lines must be equal, and L1 lines no longer");
	m = tiny;
	m.l2.shared = true;
	refused(&m, 1, "only the L3 can be shared");
	m = tiny;
	m.l2.write = CACHESIM_WRITE_THROUGH;
	refused(&m, 1, "only the L1D can write through");
	m = tiny;
	m.l3.shared = true;
	m.clusters = 0;
	refused(&m, 1, "a shared L3 needs 1 to 64 clusters");
}

static void presets_are_the_documented_machines(void **state)
{
	const struct cachesim_machine *rx = cachesim_preset("rx4640");
	const struct cachesim_machine *quarter = cachesim_preset("rx4640-quarter");
	const struct cachesim_machine *xeon = cachesim_preset("xeon-2s");

	(void)state;
	/* The paper, Table 1. */
	assert_int_equal(rx->l1i.size, 16384);
	assert_int_equal(rx->l1d.size, 16384);
	assert_int_equal(rx->l1d.line, 64);
	assert_int_equal(rx->l1d.write, CACHESIM_WRITE_THROUGH);
	assert_int_equal(rx->l2.size, 262144);
	assert_int_equal(rx->l2.line, 128);
	assert_int_equal(rx->l3.size, 4194304);
	assert_int_equal(rx->l3.line, 128);
	assert_false(rx->l3.shared);
	assert_int_equal(quarter->l1d.size * 4, rx->l1d.size);
	assert_int_equal(quarter->l2.size * 4, rx->l2.size);
	assert_int_equal(quarter->l3.size * 4, rx->l3.size);
	assert_memory_equal(&quarter->l1i, &rx->l1i, sizeof(rx->l1i));
	assert_memory_equal(&quarter->latency, &rx->latency, sizeof(rx->latency));
	assert_true(xeon->l3.shared);
	assert_int_equal(xeon->clusters, 2);
	assert_null(cachesim_preset("rx4641"));
	for (unsigned int cpus = 1; cpus <= CACHESIM_MAX_CPUS; cpus *= 8) {
		cachesim_free(model(rx, cpus));
		cachesim_free(model(xeon, cpus));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lru_evicts_the_line_used_longest_ago),
		cmocka_unit_test(fifo_evicts_the_line_filled_longest_ago),
		cmocka_unit_test(each_level_remembers_what_the_one_above_lost),
		cmocka_unit_test(l2_eviction_takes_both_halves_from_both_l1s),
		cmocka_unit_test(l3_eviction_takes_the_line_from_the_l2_too),
		cmocka_unit_test(a_modified_line_is_written_back_once_when_the_l3_evicts_it),
		cmocka_unit_test(write_through_stores_are_l2_references_and_allocate_nothing),
		cmocka_unit_test(write_back_stores_stay_in_the_l1d),
		cmocka_unit_test(an_access_counts_every_line_it_touches),
		cmocka_unit_test(modes_and_instructions_are_counted_apart),
		cmocka_unit_test(zeroing_keeps_the_lines_and_reset_does_not),
		cmocka_unit_test(cycles_are_instructions_and_latencies),
		cmocka_unit_test(a_round_takes_as_long_as_its_longest_turn),
		cmocka_unit_test(adding_counts_adds_every_field),
		cmocka_unit_test(machines_that_cannot_be_are_refused),
		cmocka_unit_test(presets_are_the_documented_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
