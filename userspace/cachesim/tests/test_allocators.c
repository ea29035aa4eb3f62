// SPDX-License-Identifier: GPL-2.0
/* How functions that allocate are known. */
#define _GNU_SOURCE	/* mkstemp */
#include "test_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocators.h"

static char error[256];

static struct allocators *read_text(const char *text)
{
	char name[] = "cachesim-allocators-XXXXXX";
	struct allocators *found;
	FILE *file = fdopen(mkstemp(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	error[0] = '\0';
	found = allocators_read(name, error, sizeof(error));
	unlink(name);
	return found;
}

TEST(they_are_known_by_place_and_bytes)
{
	static const uint8_t one[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x41 };
	static const uint8_t other[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x42 };
	struct allocators *a = read_text("malloc 9a1c0 f30f1efa41\n"
					 "free 9b1c0 f30f1efa42\n"
					 "posix_memalign fffffb f30f1efa41\n");

	assert_non_null(a);
	/* In whichever page. */
	assert_int_equal(allocators_at(a, 0x7ffff7e3a1c0, one), ALLOCATOR_MALLOC);
	assert_int_equal(allocators_at(a, 0x7ffff7e3a1c0, other), ALLOCATOR_FREE);
	assert_int_equal(allocators_at(a, 0x7ffff7e3a1d0, one), ALLOCATOR_NONE);
	assert_int_equal(allocators_at(a, 0x401ffb, one), ALLOCATOR_POSIX_MEMALIGN);
	allocators_free(a);
	a = read_text("");
	assert_non_null(a);
	assert_int_equal(allocators_at(a, 0x7ffff7e3a1c0, one), ALLOCATOR_NONE);
	allocators_free(a);
	allocators_free(NULL);
}

TEST(what_is_no_such_file_is_refused)
{
	static const char *const texts[] = {
		"mmap 1000 f3\n",	/* none of them */
		"malloc 1000\n", "malloc x f3\n", "malloc 1000 f\n", "malloc 1000 f3x\n",
		"malloc 1ffe f30f1e\n",	/* in two pages */
	};
	char many[256] = "malloc 1000 ";

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		assert_null(read_text(texts[i]));
		assert_non_null(strstr(error, ": Invalid argument; name a file of functions"));
	}
	memset(many + strlen(many), '1', 128);
	allocators_free(read_text(many));
	assert_string_equal(error, "");
	strcat(many, "11");
	assert_null(read_text(many));
	assert_null(allocators_read("/nonexistent", error, sizeof(error)));
	assert_non_null(strstr(error, "/nonexistent: No such file or directory"));
}

RUN_TESTS(NULL, NULL)
