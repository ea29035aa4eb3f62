// SPDX-License-Identifier: GPL-2.0
/* Whose the counts are: hand-computed ones, and the sums of random ones. */
#include "test_machine.h"

#include <stdlib.h>
#include <string.h>

#include "attribution.h"

#define PROGRAM 0x1000ull
#define CHILD 0x2000ull
#define CODE 0x401000ull
#define KERNEL_CODE 0xffffffff81000000ull
#define FIELDS 9	/* of an instruction, after its address */

enum { INSTRUCTIONS, L1I_MISSES, L1D_MISSES, L2_MISSES, L3_MISSES, BUS_REQUESTS, CACHE_TO_CACHE,
       STALL_CYCLES, CYCLES };

static struct cachesim *cs;
static struct attribution *attribution;
static char *text;

static const char *result(void)
{
	static const uint64_t per_cpu[] = { 10, 20, 30, 1ull << 63 };
	size_t length;

	free(text);
	text = attribution_format(attribution, PROGRAM, per_cpu, &length);
	assert_non_null(text);
	assert_int_equal(strlen(text), length);
	return text;
}

/* The rows of the n-th code, from 0: [address,counts...],... */
static const char *rows_of(const char *from, unsigned int n)
{
	for (unsigned int i = 0; i <= n; i++) {
		from = strstr(from, "\"instructions\":[[");
		assert_non_null(from);
		from += strlen("\"instructions\":[");
	}
	return from;
}

/* Reads a row; returns what is behind it. */
static const char *read_row(const char *row, uint64_t values[FIELDS + 1])
{
	char *at = (char *)row + 1;

	for (int i = 0; i <= FIELDS; i++) {
		values[i] = strtoull(at, &at, 10);
		at++;
	}
	return at;
}

static void assert_row(unsigned int code, unsigned int number, const uint64_t expected[FIELDS + 1])
{
	uint64_t values[FIELDS + 1];
	const char *row = rows_of(result(), code);

	for (unsigned int i = 0; i < number; i++)
		row = read_row(row, values) + 1;
	read_row(row, values);
	for (int i = 0; i <= FIELDS; i++)
		assert_int_equal(values[i], expected[i]);
}

struct program {
	struct code *code;
	enum cachesim_mode mode;
};

static struct program program(enum cachesim_mode mode, uint64_t address)
{
	struct program p = { .code = attribution_code(attribution, mode, 3), .mode = mode };

	assert_non_null(p.code);
	for (int i = 0; i < 3; i++)
		attribution_add(p.code, address + 4 * i);
	return p;
}

/* As the plugin does it: of two lines of code, which the first and the last instruction begin. */
static void enter(const struct program *p, unsigned int cpu, uint64_t space, uint64_t line)
{
	const uint64_t lines[] = { line, line + 1 };

	cachesim_execute(cs, cpu, p->mode, 3, NULL, 0);
	assert_int_equal(attribution_enter(attribution, cpu, p->code, space), 0);
	for (int i = 0; i < 2; i++) {
		cachesim_execute(cs, cpu, p->mode, 0, &lines[i], 1);
		attribution_charge(attribution, cpu, 2 * i);
	}
}

static void access(unsigned int cpu, int which, uint64_t phys, bool store)
{
	if (store)
		cachesim_store(cs, cpu, phys, 8);
	else
		cachesim_load(cs, cpu, phys, 8);
	assert_int_equal(attribution_access(attribution, cpu, which, 0x7000000 + phys, phys, 8,
					    store), 0);
}

SET_UP
{
	cs = model(&tiny, 4);
	attribution = attribution_new(cs);
	return !attribution;
}

TEAR_DOWN
{
	attribution_free(attribution);
	cachesim_free(cs);
	free(text);
	text = NULL;
	return 0;
}

FIXTURE_TEST(each_instruction_has_its_own_misses)
{
	struct program p = program(CACHESIM_USER, CODE);

	enter(&p, 0, PROGRAM, 16);
	access(0, 1, 0x1000, false);
	enter(&p, 0, PROGRAM, 16);
	access(0, 1, 0x1000, false);
	/* An L2 line holds both lines of code: one miss of the bus for the two. */
	assert_row(0, 0, (uint64_t[]){ CODE, 2, 1, 0, 1, 1, 1, 0, 11100, 11300 });
	assert_row(0, 1, (uint64_t[]){ CODE + 4, 2, 0, 1, 1, 1, 1, 0, 11100, 11300 });
	assert_row(0, 2, (uint64_t[]){ CODE + 8, 2, 1, 0, 0, 0, 0, 0, 100, 300 });
}

FIXTURE_TEST(a_transfer_is_the_readers)
{
	struct program p = program(CACHESIM_USER, CODE), q = program(CACHESIM_KERNEL, KERNEL_CODE);

	enter(&p, 0, PROGRAM, 16);
	access(0, 0, 0x1000, true);
	enter(&q, 1, 0, 32);
	access(1, 1, 0x1000, false);
	assert_non_null(strstr(result(), "{\"mode\":\"user\",\"program\":true,"));
	assert_non_null(strstr(result(), "{\"mode\":\"kernel\",\"program\":false,"));
	assert_row(1, 1, (uint64_t[]){ KERNEL_CODE + 4, 1, 0, 1, 1, 1, 1, 1, 101100, 101200 });
}

FIXTURE_TEST(address_spaces_are_told_apart_and_translations_joined)
{
	struct program p = program(CACHESIM_USER, CODE), again = program(CACHESIM_USER, CODE);
	const char *rows;

	enter(&p, 0, PROGRAM, 16);
	enter(&p, 0, CHILD, 16);
	enter(&again, 1, PROGRAM, 16);
	assert_row(0, 2, (uint64_t[]){ CODE + 8, 2, 2, 0, 0, 0, 0, 0, 200, 400 });
	assert_row(1, 2, (uint64_t[]){ CODE + 8, 1, 0, 0, 0, 0, 0, 0, 0, 100 });
	rows = rows_of(result(), 1);
	assert_non_null(strstr(rows - 40, "\"program\":false"));
}

/* An access before any code goes to the next code; one beyond its code to the first instruction. */
FIXTURE_TEST(no_access_is_lost)
{
	struct program p = program(CACHESIM_KERNEL, KERNEL_CODE);

	access(0, 1, 0x1000, false);
	enter(&p, 0, 0, 16);
	access(0, 3, 0x2000, false);
	assert_row(0, 0, (uint64_t[]){ KERNEL_CODE, 1, 1, 2, 3, 3, 3, 0, 33300, 26000 });
	assert_row(0, 1, (uint64_t[]){ KERNEL_CODE + 4, 1, 0, 0, 0, 0, 0, 0, 0, 3800 });
}

FIXTURE_TEST(lines_that_move_are_told)
{
	struct program p = program(CACHESIM_USER, CODE);

	enter(&p, 0, PROGRAM, 16);
	enter(&p, 1, PROGRAM, 16);
	for (int i = 0; i < 10; i++) {
		access(0, 0, 0x1000, true);
		access(1, 2, 0x1020, true);
	}
	/* From the second one on, which the first two made: 2 * 10 - 2 - 1. */
	assert_non_null(strstr(result(), "\"line_bytes\":128,\"lines\":[{\"mode\":\"user\","
		"\"program\":true,\"address\":117444608,\"moves\":18,\"in_vain\":18,"));
	assert_non_null(strstr(text, "{\"cpu\":0,\"moves\":9,\"in_vain\":9,\"instruction\":4198400,"
		"\"stores\":[[0,7]],\"loads\":[]}"));
	assert_non_null(strstr(text, "{\"cpu\":1,\"moves\":9,\"in_vain\":9,\"instruction\":4198408,"
		"\"stores\":[[32,39]],\"loads\":[]}"));
}

/* The access's second line is another one. */
FIXTURE_TEST(an_access_across_lines_touches_both)
{
	struct program p = program(CACHESIM_USER, CODE);

	enter(&p, 0, PROGRAM, 16);
	enter(&p, 1, PROGRAM, 16);
	for (int i = 0; i < 3; i++) {
		access(0, 0, 0x107c, true);
		access(1, 0, 0x1000, true);
		access(1, 0, 0x1090, true);
	}
	assert_non_null(strstr(result(), "\"stores\":[[124,127]]"));
	assert_non_null(strstr(text, "\"stores\":[[0,3]]"));
	assert_non_null(strstr(text, "\"stores\":[[16,23]]"));
}

static uint64_t model_total(size_t offset)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < cachesim_cpus(cs); cpu++) {
		for (int mode = 0; mode < CACHESIM_MODES; mode++) {
			const char *fields = (const char *)cachesim_counts(cs, cpu, mode);

			sum += *(const uint64_t *)(fields + offset);
		}
	}
	return sum;
}

/* Random traffic of several CPUs, modes and address spaces: nothing is lost, nothing doubled. */
FIXTURE_TEST(all_sums_are_the_models)
{
	static const size_t offsets[FIELDS] = {
		[INSTRUCTIONS] = offsetof(struct cachesim_counts, instructions),
		[L1I_MISSES] = offsetof(struct cachesim_counts, l1i_misses),
		[L1D_MISSES] = offsetof(struct cachesim_counts, l1d_misses),
		[L2_MISSES] = offsetof(struct cachesim_counts, l2_misses),
		[L3_MISSES] = offsetof(struct cachesim_counts, l3_misses),
		[BUS_REQUESTS] = offsetof(struct cachesim_counts, bus_requests),
		[CACHE_TO_CACHE] = offsetof(struct cachesim_counts, cache_to_cache),
		[STALL_CYCLES] = offsetof(struct cachesim_counts, stall_cycles),
		[CYCLES] = offsetof(struct cachesim_counts, cycles),
	};
	uint64_t sums[FIELDS] = { 0 }, values[FIELDS + 1];
	struct program p[12];
	const char *row;

	for (unsigned int i = 0; i < 12; i++)
		p[i] = program(i % 3, (i % 3 ? KERNEL_CODE : CODE) + 64 * i);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		const struct program *one = &p[rand() % 12];
		unsigned int cpu = rand() % 4;

		enter(one, cpu, one->mode ? 0 : rand() % 2 ? PROGRAM : CHILD, 2 * (rand() % 64));
		for (int k = 0; k < 3; k++)
			access(cpu, k, 4 * (rand() % 4096), rand() % 2);
	}
	row = result();
	while ((row = strstr(row, "\"instructions\":[["))) {
		for (row += strlen("\"instructions\":["); *row == '['; row += *row == ',') {
			row = read_row(row, values);
			for (int i = 0; i < FIELDS; i++)
				sums[i] += values[i + 1];
		}
	}
	for (int i = 0; i < FIELDS; i++) {
		assert_int_not_equal(sums[i], 0);
		assert_int_equal(sums[i], model_total(offsets[i]));
	}
}

FIXTURE_TEST(a_region_starts_from_nothing)
{
	struct program p = program(CACHESIM_USER, CODE);

	enter(&p, 0, PROGRAM, 16);
	access(0, 1, 0x1000, true);
	cachesim_zero_counts(cs);
	attribution_begin(attribution);
	assert_string_equal(strstr(result(), "\"code\""),
			    "\"code\":[],\"line_bytes\":128,\"lines\":[],"
			    "\"per_cpu\":[10,20,30,9223372036854775808]}\n");
	enter(&p, 0, PROGRAM, 16);
	assert_row(0, 0, (uint64_t[]){ CODE, 1, 0, 0, 0, 0, 0, 0, 0, 100 });
}

RUN_TESTS(NULL, NULL)
