// SPDX-License-Identifier: GPL-2.0
#include "test_machine.h"

#include <string.h>
#include <unistd.h>

#include "system_map.h"

#define MAP "cachesim-system-map-test"

static int find(const char *content, struct symbol *symbols, size_t n, char *error, size_t size)
{
	FILE *file = fopen(MAP, "w");
	int result;

	assert_non_null(file);
	fputs(content, file);
	fclose(file);
	result = system_map_find(MAP, symbols, n, error, size);
	unlink(MAP);
	return result;
}

TEST(symbols_are_found_by_their_whole_names)
{
	struct symbol symbols[] = { { .name = "two" }, { .name = "_one" } };
	char error[256];

	assert_int_equal(find("0000000000000010 A one\nffffffff81000000 T _one\n"
			      "ffffffff81000010 t two.part.0\nffffffff81000020 t two\n",
			      symbols, 2, error, sizeof(error)), 0);
	assert_int_equal(symbols[0].address, 0xffffffff81000020);
	assert_int_equal(symbols[1].address, 0xffffffff81000000);
}

TEST(what_is_missing_is_named)
{
	struct symbol symbols[] = { { .name = "one" }, { .name = "two", .address = 1 } };
	char error[256];

	assert_int_equal(find("ffffffff81000000 T one\n", symbols, 2, error, sizeof(error)), -1);
	assert_non_null(strstr(error, MAP " has no two"));
	assert_int_equal(system_map_find("/none", symbols, 2, error, sizeof(error)), -1);
	assert_non_null(strstr(error, "/none: No such file or directory"));
}

RUN_TESTS(NULL, NULL)
