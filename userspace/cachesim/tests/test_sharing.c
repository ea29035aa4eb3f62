// SPDX-License-Identifier: GPL-2.0
/* Which lines move between CPUs, and which of them in vain. */
#include "test_machine.h"

#include "sharing.h"

#define SPACE 0x1000ull
#define NAME 0x404000ull	/* of the line at 0, in that space */

static struct sharing *sharing;

static struct sharing_access by(unsigned int cpu, bool store, unsigned int at)
{
	return (struct sharing_access){
		.cpu = cpu, .store = store, .instruction = 0x1000 * cpu + at, .space = SPACE,
		.address = NAME + at,
	};
}

static void watch(unsigned int at)
{
	struct sharing_access access = by(0, true, at);

	assert_int_equal(sharing_watch(sharing, at, &access), 0);
}

static void load(unsigned int cpu, unsigned int at)
{
	struct sharing_access access = by(cpu, false, at);

	sharing_touch(sharing, at, 4, 7, &access);
}

static void store(unsigned int cpu, unsigned int at)
{
	struct sharing_access access = by(cpu, true, at);

	sharing_touch(sharing, at, 4, 7, &access);
}

static const struct moved_line *only_line(void)
{
	size_t n;
	const struct moved_line *const *lines = sharing_lines(sharing, &n);

	assert_non_null(lines);
	assert_int_equal(n, 1);
	return lines[0];
}

static void assert_moves(unsigned int moves, unsigned int in_vain)
{
	const struct moved_line *line = only_line();

	assert_int_equal(line->moves, moves);
	assert_int_equal(line->in_vain, in_vain);
}

/* The CPU's bytes are these: "0-3 8-11". */
static void assert_bytes(unsigned int cpu, bool stored, const char *expected)
{
	struct byte_range ranges[8];
	size_t n = sharing_bytes(sharing, only_line(), cpu, stored, ranges, 8);
	char text[128] = "";
	int used = 0;

	for (size_t i = 0; i < n; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%u-%u", i ? " " : "",
				 ranges[i].first, ranges[i].last);
	assert_string_equal(text, expected);
}

SET_UP
{
	sharing = sharing_new(128, 3);
	return !sharing;
}

TEAR_DOWN
{
	sharing_free(sharing);
	return 0;
}

FIXTURE_TEST(counters_side_by_side_are_fetched_in_vain)
{
	watch(0);
	for (int i = 0; i < 10; i++) {
		store(0, 0);
		store(0, 8);
		store(1, 64);
	}
	/* The first fetch is no move: no CPU had written before. */
	assert_moves(19, 19);
	assert_bytes(0, true, "0-3 8-11");
	assert_bytes(1, true, "64-67");
	assert_bytes(1, false, "");
	assert_int_equal(only_line()->users[0].moves, 9);
	assert_int_equal(only_line()->users[1].in_vain, 10);
	assert_int_equal(only_line()->users[1].instruction, 0x1040);
	assert_int_equal(only_line()->stall, 30 * 7);
}

FIXTURE_TEST(what_others_wrote_is_worth_its_move)
{
	watch(0);
	for (int i = 0; i < 10; i++) {
		store(0, 0);
		load(1, 0);
	}
	assert_moves(10, 0);
}

/* A move is judged when the line is taken away again, not by its first access. */
FIXTURE_TEST(a_later_access_may_be_the_one)
{
	watch(0);
	store(0, 0);
	load(1, 64);
	load(1, 3);	/* overlaps by a byte */
	store(0, 0);
	load(1, 64);
	assert_moves(2, 1);
	assert_bytes(1, false, "64-67");
}

/* News are what was written since the CPU had the line, not all that was ever written. */
FIXTURE_TEST(old_news_are_none)
{
	watch(0);
	store(0, 0);
	load(1, 0);
	store(0, 8);
	load(1, 0);
	assert_moves(2, 1);
	/* What the writer stores beside counts as its part in it. */
	assert_bytes(0, true, "0-3 8-11");
}

FIXTURE_TEST(readers_take_nothing_away)
{
	size_t n;

	watch(0);
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		load(cpu, 4 * cpu);
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		load(cpu, 64);
	assert_non_null(sharing_lines(sharing, &n));
	assert_int_equal(n, 0);
}

FIXTURE_TEST(lines_are_told_apart_and_sorted)
{
	const struct moved_line *const *lines;
	size_t n;

	/* More than the table has room for at first. */
	for (unsigned int line = 0; line < 3000; line++)
		watch(128 * line);
	store(0, 0);
	store(1, 4);
	for (int i = 0; i < 3; i++) {
		store(0, 128 * 2999);
		store(1, 128 * 2999 + 4);
	}
	store(0, 128 * 5000);	/* not watched */
	store(1, 128 * 5000);
	lines = sharing_lines(sharing, &n);
	assert_int_equal(n, 2);
	assert_int_equal(lines[0]->address, NAME + 128 * 2999);
	assert_int_equal(lines[0]->in_vain, 5);
	assert_int_equal(lines[1]->address, NAME);
	assert_int_equal(lines[1]->in_vain, 1);
}

FIXTURE_TEST(a_program_names_its_memory)
{
	struct sharing_access kernel = by(0, true, 0);

	kernel.space = 0;
	kernel.address = 0xffff888000000048ull;
	assert_int_equal(sharing_watch(sharing, 0x48, &kernel), 0);
	sharing_touch(sharing, 0x48, 4, 0, &kernel);
	store(1, 0);
	assert_int_equal(only_line()->space, SPACE);
	assert_int_equal(only_line()->address, NAME);
	sharing_touch(sharing, 0x48, 4, 0, &kernel);
	assert_int_equal(only_line()->address, NAME);
}

FIXTURE_TEST(a_region_forgets_the_last_one)
{
	size_t n;

	watch(0);
	store(0, 0);
	store(1, 64);
	sharing_begin(sharing);
	store(0, 0);
	assert_non_null(sharing_lines(sharing, &n));
	assert_int_equal(n, 0);
}

RUN_TESTS(NULL, NULL)
