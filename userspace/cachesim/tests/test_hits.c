// SPDX-License-Identifier: GPL-2.0
/* The short path of a hit against the long one: made-up accesses, with the same result. */
#include "test_machine.h"

#include <string.h>

#include "hits.h"

#define CPUS 3u
#define ACCESSES 20000

static uint32_t state;

static uint32_t some(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return (uint64_t)(state >> 8) * below >> 24;
}

/* The same access in both models, by the short path in `cs` and by the long one in `other`. */
static void access_both(struct cachesim *other)
{
	unsigned int cpu = some(CPUS), size = 1u << some(5), n = 1 + some(3);
	/* Some lines are used often, some seldom, and some accesses cross lines. */
	uint64_t phys = some(4) ? some(512) : some(1 << 14);
	uint64_t lines[] = { phys >> 6, (phys >> 6) + 1, (phys >> 6) + 2 };
	enum cachesim_mode mode = some(CACHESIM_MODES);

	switch (some(3)) {
	case 0:
		hits_load(cs, cpu, phys, size);
		cachesim_load(other, cpu, phys, size);
		break;
	case 1:
		hits_store(cs, cpu, phys, size);
		cachesim_store(other, cpu, phys, size);
		break;
	default:
		hits_execute(cs, cpu, mode, n, lines[0], n);
		cachesim_execute(other, cpu, mode, n, lines, n);
	}
}

static void compare(const struct cachesim *other)
{
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		for (int mode = 0; mode < CACHESIM_MODES; mode++)
			assert_memory_equal(cachesim_counts(cs, cpu, mode),
					    cachesim_counts(other, cpu, mode),
					    sizeof(struct cachesim_counts));
		for (uint64_t phys = 0; phys < 1 << 14; phys += 64)
			for (int where = CACHESIM_L1I; where <= CACHESIM_L3; where++)
				assert_int_equal(cachesim_state(cs, cpu, where, phys),
						 cachesim_state(other, cpu, where, phys));
	}
}

static void accesses_are_equal(const struct cachesim_machine *machine)
{
	struct cachesim *other = model(machine, CPUS);

	cs = model(machine, CPUS);
	state = 1;
	for (int i = 0; i < ACCESSES; i++) {
		access_both(other);
		for (unsigned int cpu = 0; cpu < CPUS; cpu++)
			assert_int_equal(cachesim_clocks(cs)[cpu], cachesim_clocks(other)[cpu]);
		if (i % 1000 == 0)
			compare(other);
	}
	compare(other);
	cachesim_free(other);
}

MODEL_TEST(write_through)
{
	accesses_are_equal(&tiny);
}

MODEL_TEST(write_back)
{
	struct cachesim_machine back = tiny;

	back.l1d.write = CACHESIM_WRITE_BACK;
	accesses_are_equal(&back);
}

MODEL_TEST(fifo)
{
	struct cachesim_machine fifo = tiny;

	fifo.l1i.replacement = fifo.l1d.replacement = fifo.l2.replacement = CACHESIM_FIFO;
	accesses_are_equal(&fifo);
}

MODEL_TEST(a_shared_l3_and_misses_that_overlap)
{
	struct cachesim_machine shared = tiny;

	shared.l1d.write = CACHESIM_WRITE_BACK;
	shared.l3.shared = true;
	shared.overlap = 4;
	shared.overlap_window = 20;
	shared.bus = 7;
	accesses_are_equal(&shared);
}

RUN_TESTS(NULL, NULL)
