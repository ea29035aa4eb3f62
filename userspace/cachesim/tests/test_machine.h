/* SPDX-License-Identifier: GPL-2.0 */
/* A machine small enough to compute by hand, and short words for the tests. */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include <stdio.h>

#include "cachesim.h"
#include "machine_file.h"
#include "unit.h"

/*
 * L1: 64-byte lines, 2 sets of 2. L2: 128-byte lines, 2 sets of 4. L3: 128-byte
 * lines, 2 sets of 8. Lines 256 bytes apart fall into one L2 and one L3 set;
 * lines 128 bytes apart into one L1 set.
 */
static const struct cachesim_machine tiny = {
	.name = "tiny",
	.mhz = 1000,
	.cpi = CACHESIM_CYCLE,
	.kernel_cpi = CACHESIM_CYCLE,
	.overlap = 1,
	.l1i = { .size = 256, .ways = 2, .line = 64 },
	.l1d = { .size = 256, .ways = 2, .line = 64, .write = CACHESIM_WRITE_THROUGH },
	.l2 = { .size = 1024, .ways = 4, .line = 128 },
	.l3 = { .size = 2048, .ways = 8, .line = 128 },
	.clusters = 1,
	.latency = { .l2 = 1, .l3 = 10, .memory = 100, .remote_memory = 100000,
		     .cache_to_cache = 1000, .upgrade = 10000 },
};

static inline struct cachesim *model(const struct cachesim_machine *machine, unsigned int cpus)
{
	const char *error;
	struct cachesim *cs = cachesim_new(machine, cpus, &error);

	assert_non_null(cs);
	assert_null(error);
	return cs;
}

static inline struct cachesim *write_back_model(unsigned int cpus)
{
	struct cachesim_machine back = tiny;

	back.l1d.write = CACHESIM_WRITE_BACK;
	return model(&back, cpus);
}

/* MODEL_TEST() frees it. */
static struct cachesim *cs;

static inline int free_model(UNIT_STATE)
{
	cachesim_free(cs);
	cs = NULL;
	return 0;
}

#define MODEL_TEST(function) UNIT_TEST(function, NULL, free_model, NULL)

/* A machine that comes with the model. PRESETS: the folder, from Meson. */
static inline struct cachesim_machine preset(const char *name)
{
	struct cachesim_machine machine;
	char path[4096], error[512];

	snprintf(path, sizeof(path), "%s/%s.toml", PRESETS, name);
	if (machine_file_read(&machine, path, error, sizeof(error)))
		fail_msg("%s", error);
	return machine;
}

#define CYCLES(n) ((n) * (uint64_t)CACHESIM_CYCLE)

/* What a CPU's clock shows; it is then set back. */
static inline uint64_t time_of(struct cachesim *cs, unsigned int cpu)
{
	uint64_t time = cachesim_clocks(cs)[cpu];

	cachesim_clocks(cs)[cpu] = 0;
	return time;
}

static inline const struct cachesim_counts *kernel_counts(struct cachesim *cs, unsigned int cpu)
{
	return cachesim_counts(cs, cpu, CACHESIM_KERNEL);
}

/* The counts of cpu's kernel mode since the last zeroing, field by field. */
#define assert_count(cs, cpu, field, value) \
	assert_int_equal(kernel_counts(cs, cpu)->field, value)

#define assert_state(cs, cpu, where, phys, state) \
	assert_int_equal(cachesim_state(cs, cpu, CACHESIM_##where, phys), CACHESIM_##state)

#endif
