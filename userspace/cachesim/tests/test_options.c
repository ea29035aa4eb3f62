// SPDX-License-Identifier: GPL-2.0
/* The plugin's arguments: what is taken, and what each bad one is told. */
#include "test_machine.h"

#include <string.h>

#include "options.h"

#define RANGE "idle=0xffffffff81000000-0xffffffff81000100"

#define XEON "machine=" PRESETS "/xeon-2s.toml"
#define RX "machine=" PRESETS "/rx4640.toml"

static int parse(struct options *o, char *error, size_t size, int argc, const char **argv)
{
	error[0] = '\0';
	return options_parse(o, argc, (char **)argv, error, size);
}

static void good_arguments_in_any_order(void **state)
{
	const char *argv[] = { "out=/x/y.jsonl", RANGE, XEON };
	struct options o;
	char error[512];

	(void)state;
	assert_int_equal(parse(&o, error, sizeof(error), 3, argv), 0);
	assert_string_equal(o.machine.name, "xeon-2s");
	assert_int_equal(o.machine.clusters, 2);
	assert_int_equal(o.idle_start, 0xffffffff81000000);
	assert_int_equal(o.idle_end, 0xffffffff81000100);
	assert_string_equal(o.out, "/x/y.jsonl");
	assert_int_equal(o.futexes, 0);
}

static void futexes_may_be_counted(void **state)
{
	const char *own[] = { "out=o", RANGE, "futexes=own", XEON };
	const char *next[] = { "futexes=next", "out=o", RANGE, XEON };
	struct options o;
	char error[512];

	(void)state;
	assert_int_equal(parse(&o, error, sizeof(error), 4, own), 0);
	assert_int_equal(o.futexes, FUTEXES_OWN);
	assert_int_equal(parse(&o, error, sizeof(error), 4, next), 0);
	assert_int_equal(o.futexes, FUTEXES_NEXT);
}

static void bad_arguments_are_named(void **state)
{
	static const struct {
		const char *argv[4];
		const char *says;
	} cases[] = {
		{ { "machine=/none/vax.toml", RANGE, "out=o" }, "/none/vax.toml: No such file or directory" },
		{ { "machine=", RANGE, "out=o" }, ": No such file or directory; name a machine's file" },
		{ { "machine=/dev/null", RANGE, "out=o" }, "/dev/null:0: the file ends and name is missing" },
		{ { "preset=rx4640", RANGE, "out=o" }, "argument \"preset=rx4640\" is unknown" },
		{ { RANGE, "out=o" }, "machine is missing" },
		{ { RX, "out=o" }, "idle is missing" },
		{ { RX, RANGE }, "out is missing" },
		{ { RX, RANGE, "out=" }, "out= names no file" },
		{ { RX, "idle=0x10", "out=o" }, "idle=0x10 is not a range" },
		{ { RX, "idle=0x10-", "out=o" }, "is not a range" },
		{ { RX, "idle=-0x10-0x20", "out=o" }, "is not a range" },
		{ { RX, "idle=0x10-0x20z", "out=o" }, "is not a range" },
		{ { RX, "idle=0x20-0x20", "out=o" }, "is not a range" },
		{ { RX, "idle=0x20-0x10", "out=o" }, "is not a range" },
		{ { RX, "idle=0x10-0x1ffffffffffffffff", "out=o" }, "is not a range" },
		{ { RX, RANGE, "out=o", "warm=1" }, "argument \"warm=1\" is unknown" },
		{ { RX, RANGE, "out=o", "out=p" }, "\"out=p\" is unknown or given twice" },
		{ { RX, RANGE, "out=o", RANGE }, "given twice" },
		{ { RX, RANGE, "out=o", RX }, "given twice" },
		{ { RX, RANGE, "out=o", "futexes=1" }, "futexes=1 is neither own nor" },
		{ { RANGE, "out=o", "futexes=own", "futexes=next" }, "\"futexes=next\" is unknown or" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options o;
		char error[512];
		int argc = 0;

		while (argc < 4 && cases[i].argv[argc])
			argc++;
		assert_int_equal(parse(&o, error, sizeof(error), argc, (const char **)cases[i].argv), -1);
		if (!strstr(error, cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_arguments_in_any_order),
		cmocka_unit_test(futexes_may_be_counted),
		cmocka_unit_test(bad_arguments_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
