// SPDX-License-Identifier: GPL-2.0
/* The plugin's arguments: what is taken, and what each bad one is told. */
#include "test_machine.h"

#include <string.h>

#include "options.h"

#define MAP "system_map=m"

#define XEON "machine=" PRESETS "/xeon-2s.toml"
#define RX "machine=" PRESETS "/rx4640.toml"

static int parse(struct options *o, char *error, size_t size, int argc, const char **argv)
{
	error[0] = '\0';
	return options_parse(o, argc, (char **)argv, error, size);
}

TEST(good_arguments_in_any_order)
{
	const char *argv[] = { "out=/x/y.jsonl", MAP, XEON };
	struct options o;
	char error[512];

	assert_int_equal(parse(&o, error, sizeof(error), 3, argv), 0);
	assert_string_equal(o.machine.name, "xeon-2s");
	assert_int_equal(o.machine.clusters, 2);
	assert_string_equal(o.system_map, "m");
	assert_string_equal(o.out, "/x/y.jsonl");
	assert_int_equal(o.futexes, 0);
	assert_null(o.attribute);
}

TEST(what_may_be_left_out)
{
	const char *own[] = { "out=o", MAP, "futexes=own", XEON };
	const char *next[] = { "futexes=next", "out=o", MAP, XEON };
	const char *attribute[] = { "attribute=a", "out=o", MAP, XEON };
	const char *allocators[] = {
		"allocators=f", "attribute=a", "futexes=own", "out=o", MAP, XEON
	};
	const char *quantum[] = { "quantum=100", "out=o", MAP, XEON };
	const char *nodes[] = { "node_memory=0x10000000", "out=o", MAP, XEON };
	struct options o;
	char error[512];

	assert_int_equal(parse(&o, error, sizeof(error), 4, own), 0);
	assert_int_equal(o.quantum, 2000);
	assert_int_equal(o.node_memory, 0);
	assert_int_equal(o.futexes, FUTEXES_OWN);
	assert_int_equal(parse(&o, error, sizeof(error), 4, next), 0);
	assert_int_equal(o.futexes, FUTEXES_NEXT);
	assert_int_equal(parse(&o, error, sizeof(error), 4, attribute), 0);
	assert_string_equal(o.attribute, "a");
	assert_null(o.allocators);
	assert_int_equal(parse(&o, error, sizeof(error), 6, allocators), 0);
	assert_string_equal(o.allocators, "f");
	assert_int_equal(parse(&o, error, sizeof(error), 4, quantum), 0);
	assert_int_equal(o.quantum, 100);
	assert_int_equal(parse(&o, error, sizeof(error), 4, nodes), 0);
	assert_int_equal(o.node_memory, 256 << 20);
}

TEST(bad_arguments_are_named)
{
	static const struct {
		const char *argv[4];
		const char *says;
	} cases[] = {
		{ { "machine=/none/vax.toml", MAP, "out=o" }, "/none/vax.toml: No such file or directory" },
		{ { "machine=", MAP, "out=o" }, "machine= names no file: use machine=FILE" },
		{ { "machine=/dev/null", MAP, "out=o" }, "/dev/null:0: the file ends and name is missing" },
		{ { "preset=rx4640", MAP, "out=o" }, "argument \"preset=rx4640\" is unknown" },
		{ { MAP, "out=o" }, "machine is missing" },
		{ { RX, "out=o" }, "system_map is missing" },
		{ { RX, MAP }, "out is missing" },
		{ { RX, "system_map=", "out=o" }, "system_map= names no file: use machine=FILE" },
		{ { RX, MAP, "out=" }, "out= names no file: use machine=FILE" },
		{ { RX, MAP, "out=o", "warm=1" }, "argument \"warm=1\" is unknown" },
		{ { RX, MAP, "out=o", "out=p" }, "\"out=p\" is unknown or given twice" },
		{ { RX, MAP, "out=o", MAP }, "given twice" },
		{ { RX, MAP, "out=o", RX }, "given twice" },
		{ { RX, MAP, "out=o", "quantum=99" }, "quantum=99 is not a number of cycles from 100" },
		{ { RX, MAP, "out=o", "quantum=100001" }, "is not a number of cycles" },
		{ { RX, MAP, "out=o", "quantum=2e3" }, "is not a number of cycles" },
		{ { RX, MAP, "out=o", "quantum=" }, "is not a number of cycles" },
		{ { RX, MAP, "out=o", "quantum=0777" }, "quantum=0777 is not a number of cycles" },
		{ { MAP, "out=o", "quantum=500", "quantum=500" }, "\"quantum=500\" is unknown or" },
		/* Whatever comes first. */
		{ { RX, MAP, "out=o", "node_memory=0" }, "node_memory=0 is not a number of bytes" },
		{ { RX, MAP, "out=o", "node_memory=010" }, "node_memory=010 is not a number of bytes" },
		{ { RX, MAP, "out=o", "node_memory=1M" }, "node_memory=1M is not a number of bytes" },
		{ { RX, MAP, "out=o", "node_memory=-1" }, "is not a number of bytes" },
		{ { RX, MAP, "out=o", "node_memory=" }, "is not a number of bytes" },
		{ { RX, MAP, "out=o", "node_memory=99999999999999999999" }, "not a number of bytes" },
		{ { MAP, "out=o", "node_memory=4096", "node_memory=4096" },
		  "\"node_memory=4096\" is unknown or" },
		{ { RX, MAP, "out=o", "attribute=" }, "attribute= names no file" },
		{ { RX, MAP, "out=o", "allocators=" }, "allocators= names no file" },
		{ { MAP, "out=o", "attribute=a", "attribute=b" }, "\"attribute=b\" is unknown or" },
		{ { RX, MAP, "out=o", "allocators=f" }, "allocators= without futexes= and attribute=" },
		{ { MAP, "allocators=f", "allocators=f" }, "\"allocators=f\" is unknown or" },
		{ { RX, MAP, "out=o", "futexes=1" }, "futexes=1 is neither own nor" },
		{ { MAP, "out=o", "futexes=own", "futexes=next" }, "\"futexes=next\" is unknown or" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
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

RUN_TESTS(NULL, NULL)
