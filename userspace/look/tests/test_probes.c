// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "unit.h"
#include "probes.h"

static struct probes p;

static int add(const char *text)
{
	static char copy[64];

	snprintf(copy, sizeof(copy), "%s", text);
	return probes_add(&p, copy);
}

TEST(what_describes_a_probe)
{
	assert_int_equal(add("once:%ax:0x1f0:/a/path: with a colon"), 0);
	assert_int_equal(p.count, 1);
	assert_true(p.all[0].once);
	assert_string_equal(p.all[0].lock, "%ax");
	assert_int_equal(p.all[0].offset, 0x1f0);
	assert_string_equal(p.all[0].path, "/a/path: with a colon");
}

TEST(what_describes_none)
{
	static const char *const wrong[] = {
		"", "once", "once:%ax", "once:%ax:1", "never:%ax:1:/a", "each:ax:1:/a",
		"each:%di::/a", "each:%di:1x:/a", "each:%di:1:a",
	};

	p.count = 0;
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(add(wrong[i]), -1);
	assert_int_equal(p.count, 0);
}

TEST(as_many_as_there_is_room_for)
{
	p.count = 0;
	for (int i = 0; i < PROBES_MAX; i++)
		assert_int_equal(add("each:%di:1:/a"), 0);
	assert_int_equal(add("each:%di:1:/a"), -1);
}

RUN_TESTS(NULL, NULL)
