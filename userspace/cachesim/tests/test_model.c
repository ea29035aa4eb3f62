// SPDX-License-Identifier: GPL-2.0
/* One CPU: replacement, inclusion, write policies, line crossing, cycles, bad machines. */
#include "test_machine.h"

#include "hits.h"

MODEL_TEST(lru_evicts_the_line_used_longest_ago)
{
	cs = model(&tiny, 1);
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
}

MODEL_TEST(fifo_evicts_the_line_filled_longest_ago)
{
	struct cachesim_machine fifo = tiny;

	fifo.l1d.replacement = CACHESIM_FIFO;
	cs = model(&fifo, 1);
	cachesim_load(cs, 0, 0, 8);
	cachesim_load(cs, 0, 128, 8);
	cachesim_load(cs, 0, 0, 8);
	cachesim_load(cs, 0, 256, 8);
	assert_state(cs, 0, L1D, 0, I);
	assert_state(cs, 0, L1D, 128, S);
}

MODEL_TEST(each_level_remembers_what_the_one_above_lost)
{
	cs = model(&tiny, 1);
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
}

MODEL_TEST(l2_eviction_takes_both_halves_from_both_l1s)
{
	struct cachesim_machine wide = tiny;
	uint64_t halves[] = { 0, 1 };

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
}

MODEL_TEST(l3_eviction_takes_the_line_from_the_l2_too)
{
	struct cachesim_machine m = tiny;

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
}

MODEL_TEST(a_modified_line_is_written_back_once_when_the_l3_evicts_it)
{
	cs = model(&tiny, 1);
	cachesim_store(cs, 0, 0, 8);
	for (uint64_t a = 256; a < 8 * 256; a += 256)
		cachesim_load(cs, 0, a, 8);
	assert_count(cs, 0, writebacks, 0);	/* out of the L2, still in the L3 */
	assert_state(cs, 0, L3, 0, M);
	cachesim_load(cs, 0, 8 * 256, 8);
	assert_count(cs, 0, writebacks, 1);
	assert_count(cs, 0, l3_misses, 9);
	assert_count(cs, 0, bus_requests, 10);
}

MODEL_TEST(write_through_stores_are_l2_references_and_allocate_nothing)
{
	cs = model(&tiny, 1);
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
}

MODEL_TEST(write_back_stores_stay_in_the_l1d)
{
	cs = write_back_model(1);
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
}

MODEL_TEST(an_access_counts_every_line_it_touches)
{
	cs = model(&tiny, 1);
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
}

MODEL_TEST(modes_and_instructions_are_counted_apart)
{
	uint64_t lines[] = { 10, 11, 10 };

	cs = model(&tiny, 2);
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
}

MODEL_TEST(zeroing_keeps_the_lines)
{
	cs = model(&tiny, 2);
	cachesim_load(cs, 0, 0, 8);
	cachesim_zero_counts(cs);
	cachesim_load(cs, 0, 0, 8);
	assert_count(cs, 0, l1d_references, 1);
	assert_count(cs, 0, l1d_misses, 0);
}

MODEL_TEST(every_event_takes_its_latency_as_it_happens)
{
	const uint64_t line = 0x9000 >> 6;

	cs = model(&tiny, 2);
	cachesim_load(cs, 0, 0x1000, 8);	/* memory */
	assert_int_equal(time_of(cs, 0), CYCLES(1 + 10 + 100));
	cachesim_load(cs, 0, 0x1000, 8);	/* in the L1D */
	assert_int_equal(time_of(cs, 0), 0);
	cachesim_load(cs, 0, 0x1040, 8);	/* the other half of the L2's line */
	assert_int_equal(time_of(cs, 0), CYCLES(1));
	cachesim_store(cs, 0, 0x1000, 8);	/* Exclusive: silent, and nothing to wait for */
	assert_int_equal(time_of(cs, 0), 0);
	cachesim_load(cs, 1, 0x1000, 8);	/* Modified elsewhere */
	assert_int_equal(time_of(cs, 1), CYCLES(1 + 10 + 1000));
	cachesim_store(cs, 0, 0x1000, 8);	/* Shared, in the L1D: an upgrade */
	assert_int_equal(time_of(cs, 0), CYCLES(10 + 10000));
	cachesim_execute(cs, 1, CACHESIM_IDLE, 7, &line, 1);	/* idle takes time, too */
	assert_int_equal(time_of(cs, 1), CYCLES(7 + 1 + 10 + 100));
	assert_count(cs, 0, cycles, CYCLES(1 + 10 + 100 + 1 + 10 + 10000));
	assert_count(cs, 0, stall_cycles, CYCLES(1 + 10 + 100 + 1 + 10 + 10000));
	assert_count(cs, 0, bus_wait_cycles, 0);
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_IDLE)->cycles, CYCLES(7 + 1 + 10 + 100));
	assert_int_equal(cachesim_counts(cs, 1, CACHESIM_IDLE)->stall_cycles, CYCLES(1 + 10 + 100));
}

MODEL_TEST(a_write_back_l1d_stalls_for_ownership)
{
	cs = write_back_model(2);
	cachesim_store(cs, 0, 0x1000, 8);
	assert_int_equal(cachesim_clocks(cs)[0], CYCLES(1 + 10 + 100));
	cachesim_load(cs, 1, 0x1000, 8);
	cachesim_store(cs, 1, 0x1000, 8);
	assert_int_equal(cachesim_clocks(cs)[1], CYCLES(1 + 10 + 1000 + 10 + 10000));
}

MODEL_TEST(a_program_and_the_kernel_have_a_cpi_each)
{
	struct cachesim_machine fast = tiny;

	fast.cpi = 45;
	fast.kernel_cpi = 62;
	cs = model(&fast, 1);
	cachesim_execute(cs, 0, CACHESIM_USER, 7, NULL, 0);
	assert_int_equal(time_of(cs, 0), 7 * 45);
	cachesim_execute(cs, 0, CACHESIM_IDLE, 2, NULL, 0);
	assert_int_equal(time_of(cs, 0), 2 * 62);
	cachesim_execute(cs, 0, CACHESIM_KERNEL, 3, NULL, 0);
	cachesim_load(cs, 0, 0, 8);
	assert_int_equal(time_of(cs, 0), 3 * 62 + CYCLES(111));
	assert_count(cs, 0, cycles, 3 * 62 + CYCLES(111));
	assert_count(cs, 0, stall_cycles, CYCLES(111));
}

/* Up to 3 misses within 10 instructions; with a bus, lines follow each other in 30 cycles. */
static struct cachesim *overlapping(uint32_t bus)
{
	struct cachesim_machine m = tiny;

	m.overlap = 3;
	m.overlap_window = 10;
	m.bus = bus;
	return model(&m, 2);
}

/* Execute `n` instructions, then miss to memory; the cycles that the CPU stands still. */
static uint64_t miss_after(struct cachesim *cs, unsigned int n, uint64_t line)
{
	uint64_t before = kernel_counts(cs, 0)->stall_cycles;

	cachesim_execute(cs, 0, CACHESIM_KERNEL, n, NULL, 0);
	cachesim_load(cs, 0, line * 128, 8);
	return (kernel_counts(cs, 0)->stall_cycles - before) / CACHESIM_CYCLE;
}

MODEL_TEST(misses_that_are_close_overlap)
{
	cs = overlapping(0);
	assert_int_equal(miss_after(cs, 5, 1), 111);	/* the first of a group */
	assert_int_equal(miss_after(cs, 5, 2), 0);
	assert_int_equal(miss_after(cs, 5, 3), 0);
	assert_int_equal(miss_after(cs, 0, 4), 111);	/* the fourth */
	assert_int_equal(miss_after(cs, 11, 5), 111);	/* too far behind it */
	assert_int_equal(miss_after(cs, 4, 6), 0);
	assert_int_equal(miss_after(cs, 7, 7), 111);	/* 11 behind the first */
	assert_int_equal(cachesim_clocks(cs)[0], CYCLES(37 + 4 * 111));
	assert_count(cs, 0, cycles, CYCLES(37 + 4 * 111));
}

MODEL_TEST(a_longer_miss_takes_what_is_left_of_it)
{
	cs = overlapping(0);
	cachesim_store(cs, 1, 128 * 2, 8);
	assert_int_equal(miss_after(cs, 0, 1), 111);
	/* Modified elsewhere: 1011 from the group's start; 111 and the instructions are over. */
	assert_int_equal(miss_after(cs, 6, 2), 1011 - 111 - 6);
	/* It does not count as instructions: this one is 10 behind the first. */
	assert_int_equal(miss_after(cs, 4, 3), 0);
}

MODEL_TEST(hits_are_no_members_of_a_group)
{
	cs = overlapping(0);
	assert_int_equal(miss_after(cs, 0, 1), 111);
	for (int i = 0; i < 5; i++) {
		cachesim_load(cs, 0, 128, 8);
		cachesim_store(cs, 0, 128, 8);	/* through, to a Modified line of the L2 */
	}
	assert_int_equal(miss_after(cs, 0, 2), 0);
	assert_int_equal(miss_after(cs, 0, 3), 0);
	assert_int_equal(miss_after(cs, 0, 4), 111);
}

MODEL_TEST(waiting_ends_a_group)
{
	cs = overlapping(0);
	assert_int_equal(miss_after(cs, 0, 1), 111);
	cachesim_clocks(cs)[0] += CYCLES(50);
	assert_int_equal(miss_after(cs, 0, 2), 111);
	assert_int_equal(miss_after(cs, 0, 3), 0);
}

MODEL_TEST(no_miss_passes_a_locked_instruction)
{
	cs = overlapping(0);
	assert_int_equal(miss_after(cs, 0, 1), 111);
	cachesim_locked_load(cs, 0, 128 * 2, 8);
	cachesim_locked_store(cs, 0, 128 * 2, 8);
	assert_int_equal(cachesim_clocks(cs)[0], CYCLES(2 * 111));
	assert_int_equal(miss_after(cs, 0, 3), 111);
	assert_int_equal(miss_after(cs, 0, 4), 0);
}

MODEL_TEST(a_miss_waits_for_its_pointer)
{
	cs = overlapping(0);
	assert_int_equal(miss_after(cs, 0, 1), 111);
	assert_true(cachesim_missed(cs, 0));
	cachesim_loaded(cs, 0, 0x10000);
	hits_at(cs, 0, 0x10000 - 1);
	assert_int_equal(miss_after(cs, 0, 2), 0);
	hits_at(cs, 0, 0x10008);
	assert_int_equal(miss_after(cs, 0, 3), 111);
	/* The pointer is known from then on. */
	hits_at(cs, 0, 0x10080);
	assert_int_equal(miss_after(cs, 0, 4), 0);
	cachesim_load(cs, 0, 128 * 4, 8);
	assert_false(cachesim_missed(cs, 0));
}

/* What another CPU has written comes line by line, what memory has does not. */
MODEL_TEST(lines_of_another_cpu_come_one_after_the_other)
{
	struct cachesim_machine m = tiny;

	m.overlap = 4;
	m.overlap_window = 10;
	m.l3.shared = true;
	m.latency.transfer = 50;
	m.latency.next_transfer = 5;
	cs = model(&m, 2);
	for (uint64_t line = 1; line < 4; line++)
		cachesim_store(cs, 1, line * 128, 8);
	assert_int_equal(miss_after(cs, 0, 1), 61);
	assert_int_equal(miss_after(cs, 0, 2), 5);
	assert_int_equal(miss_after(cs, 3, 3), 5 - 3);
	assert_int_equal(miss_after(cs, 0, 4), 111 - 61 - 5 - 5);
}

MODEL_TEST(what_is_far_from_a_pointer_does_not_wait_for_it)
{
	cs = overlapping(0);
	assert_int_equal(miss_after(cs, 0, 1), 111);
	cachesim_loaded(cs, 0, 0x10000);
	hits_at(cs, 0, 0x10000 + 4096);
	assert_int_equal(miss_after(cs, 0, 2), 0);
	/* The address is of that access, not of the next instruction's fetch. */
	hits_at(cs, 0, 0x10008);
	cachesim_execute(cs, 0, CACHESIM_KERNEL, 0, (uint64_t[]){ 3 * 2 }, 1);
	assert_int_equal(cachesim_clocks(cs)[0], CYCLES(111));
}

MODEL_TEST(a_locked_instruction_waits_for_its_line)
{
	struct cachesim_machine m = tiny;

	m.latency.transfer = 7;
	cs = model(&m, 2);
	assert_int_equal(cachesim_lock_delay(cs, 0, 128), 1 + 10 + 7);
	cachesim_load(cs, 0, 128, 8);
	assert_int_equal(cachesim_lock_delay(cs, 0, 128), 0);	/* Exclusive */
	cachesim_store(cs, 0, 128, 8);
	assert_int_equal(cachesim_lock_delay(cs, 0, 128), 0);
	cachesim_load(cs, 1, 128, 8);
	assert_int_equal(cachesim_lock_delay(cs, 0, 128), 1 + 10 + 7);	/* Shared */
}

MODEL_TEST(the_bus_limits_what_overlaps)
{
	cs = overlapping(30);
	assert_int_equal(miss_after(cs, 0, 1), 111);
	/* It asks at 11, when the first one did, and is put off to 30. */
	assert_int_equal(miss_after(cs, 0, 2), 19);
	assert_int_equal(miss_after(cs, 5, 3), 30 - 5);
	assert_count(cs, 0, bus_wait_cycles, CYCLES(19 + 25));
	assert_int_equal(cachesim_clocks(cs)[0], CYCLES(111 + 19 + 30));
}

MODEL_TEST(clocks_go_on_when_counts_are_zeroed)
{
	cs = model(&tiny, 2);
	cachesim_clocks(cs)[1] = 1000000;	/* it waited */
	cachesim_load(cs, 1, 0, 8);
	cachesim_zero_counts(cs);
	assert_int_equal(cachesim_clocks(cs)[1], 1000000 + CYCLES(111));
	assert_int_equal(cachesim_clocks(cs)[0], 0);
	assert_count(cs, 1, cycles, 0);
	assert_count(cs, 1, stall_cycles, 0);
}

TEST(adding_counts_adds_what_is_new_in_every_field)
{
	struct cachesim_counts sum, now, before;
	uint64_t *s = (uint64_t *)&sum, *n = (uint64_t *)&now, *b = (uint64_t *)&before;

	for (size_t i = 0; i < sizeof(sum) / sizeof(*s); i++) {
		s[i] = 100 * i;
		n[i] = 3 * i + 1;
		b[i] = 2 * i;
	}
	cachesim_add(&sum, &now, &before);
	for (size_t i = 0; i < sizeof(sum) / sizeof(*s); i++)
		assert_int_equal(s[i], 101 * i + 1);
}

static void refused(const struct cachesim_machine *m, unsigned int cpus, const char *expected)
{
	const char *error;

	assert_null(cachesim_new(m, cpus, &error));
	assert_string_equal(error, expected);
}

TEST(machines_that_cannot_be_are_refused)
{
	struct cachesim_machine m = tiny;

	refused(&tiny, 0, "the model takes 1 to 64 CPUs");
	refused(&tiny, 65, "the model takes 1 to 64 CPUs");
	m.l1d.line = 48;
	refused(&m, 1, "a level needs a size, ways, and a line that is a power of two");
	m = tiny;
	m.l2.size = 3 * 512;
	refused(&m, 1, "a level's size / (ways * line) must be a power of two");
	m = tiny;
	m.latency.remote_memory = m.latency.memory - 1;
	refused(&m, 1, "latency.remote_memory must not be less than latency.memory");
	m = tiny;
	m.l3.line = 64;
	refused(&m, 1, "L2 and L3 lines must be equal, and L1 lines no longer");
	m = tiny;
	m.l2.shared = true;
	refused(&m, 1, "only the L3 can be shared");
	m = tiny;
	m.cpi = 0;
	refused(&m, 1, "cpi, mhz and overlap must be more than 0");
	m = tiny;
	m.mhz = 0;
	refused(&m, 1, "cpi, mhz and overlap must be more than 0");
	m = tiny;
	m.overlap = 0;
	refused(&m, 1, "cpi, mhz and overlap must be more than 0");
	m = tiny;
	m.l2.write = CACHESIM_WRITE_THROUGH;
	refused(&m, 1, "only the L1D can write through");
	m = tiny;
	m.kernel_cpi = m.cpi - 1;
	refused(&m, 1, "kernel_cpi must not be less than cpi");
	m = tiny;
	m.clusters = 0;
	refused(&m, 1, "either clusters must be 1 to 64, or cluster_cpus more than 0");
	m.clusters = 65;
	refused(&m, 1, "either clusters must be 1 to 64, or cluster_cpus more than 0");
	m.clusters = m.cluster_cpus = 2;
	refused(&m, 1, "either clusters must be 1 to 64, or cluster_cpus more than 0");
}

RUN_TESTS(NULL, NULL)
