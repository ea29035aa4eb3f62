// SPDX-License-Identifier: GPL-2.0
/* Machines from files: those that come with the model, and what each bad file is told. */
#include "test_machine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(presets_are_the_documented_machines)
{
	const struct cachesim_machine rx = preset("rx4640");
	const struct cachesim_machine quarter = preset("rx4640-quarter");
	const struct cachesim_machine xeon = preset("xeon-2s");
	const struct cachesim_machine milan = preset("epyc-milan");
	struct cachesim_machine vm = preset("epyc-milan-vm");

	/* The paper, Table 1. */
	assert_string_equal(rx.name, "rx4640");
	assert_int_equal(rx.mhz, 1300);
	assert_int_equal(rx.cpi, CACHESIM_CYCLE);
	assert_int_equal(rx.overlap, 1);
	assert_int_equal(rx.l1i.size, 16384);
	assert_int_equal(rx.l1d.size, 16384);
	assert_int_equal(rx.l1d.line, 64);
	assert_int_equal(rx.l1d.write, CACHESIM_WRITE_THROUGH);
	assert_int_equal(rx.l1d.replacement, CACHESIM_LRU);
	assert_int_equal(rx.l2.size, 262144);
	assert_int_equal(rx.l2.line, 128);
	assert_int_equal(rx.l3.size, 4194304);
	assert_int_equal(rx.l3.line, 128);
	assert_false(rx.l3.shared);
	assert_int_equal(rx.bus, 26);
	assert_int_equal(rx.pause, CACHESIM_LEAST_PAUSE);
	assert_int_equal(milan.pause, 78);
	assert_int_equal(quarter.l1d.size * 4, rx.l1d.size);
	assert_int_equal(quarter.l2.size * 4, rx.l2.size);
	assert_int_equal(quarter.l3.size * 4, rx.l3.size);
	assert_memory_equal(&quarter.l1i, &rx.l1i, sizeof(rx.l1i));
	assert_memory_equal(&quarter.latency, &rx.latency, sizeof(rx.latency));
	assert_int_equal(rx.latency.remote_memory, rx.latency.memory);
	assert_true(xeon.l3.shared);
	/* With the levels before it, 1.625 times as long. */
	assert_int_equal(8 + 18 + xeon.latency.remote_memory, (8 + 18 + xeon.latency.memory) * 1625 / 1000);
	assert_int_equal(xeon.clusters, 2);
	assert_true(milan.l3.shared);
	assert_true(milan.migratory);
	assert_false(xeon.migratory || rx.migratory);
	assert_int_equal(milan.latency.remote_memory, milan.latency.memory);
	assert_int_equal(milan.cluster_cpus, 8);
	assert_int_equal(milan.l3.size, 32 << 20);
	/* The same but for what the hypervisor costs. */
	assert_true(vm.wakeup > milan.wakeup && vm.interrupt > milan.interrupt);
	vm.wakeup = milan.wakeup;
	vm.interrupt = milan.interrupt;
	memcpy(vm.name, milan.name, sizeof(vm.name));
	assert_memory_equal(&vm, &milan, sizeof(vm));
	for (unsigned int cpus = 1; cpus <= CACHESIM_MAX_CPUS; cpus *= 8) {
		cachesim_free(model(&rx, cpus));
		cachesim_free(model(&quarter, cpus));
		cachesim_free(model(&xeon, cpus));
		cachesim_free(model(&milan, cpus));
	}
}

/* The text of rx4640's file. */
static const char *good(void)
{
	static char text[4096];
	FILE *file = fopen(PRESETS "/rx4640.toml", "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	assert_true(feof(file));
	text[n] = '\0';
	fclose(file);
	return text;
}

/* Read rx4640's file with `old`, which stands in it once, changed to `new`. */
static int read_changed(const char *old, const char *new, struct cachesim_machine *machine,
			char *error, size_t size)
{
	char path[] = "cachesim-machine-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	const char *text = good(), *at = strstr(text, old);
	int result;

	if (!at)
		fail_msg("rx4640.toml has no \"%s\"", old);
	fprintf(file, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
	fclose(file);
	result = machine_file_read(machine, path, error, size);
	unlink(path);
	return result;
}

TEST(values_and_comments_are_read)
{
	struct cachesim_machine m;
	char error[512];

	assert_int_equal(read_changed("mhz = 1300", "\t mhz=2000# a comment", &m, error,
				      sizeof(error)), 0);
	assert_int_equal(m.mhz, 2000);
	assert_int_equal(read_changed("l2.replacement = \"lru\"", "l2.replacement = \"fifo\" # x",
				      &m, error, sizeof(error)), 0);
	assert_int_equal(m.l2.replacement, CACHESIM_FIFO);
	assert_int_equal(m.l3.replacement, CACHESIM_LRU);
	assert_int_equal(read_changed("l3.shared = false", "l3.shared = true\r", &m, error,
				      sizeof(error)), 0);
	assert_true(m.l3.shared);
	assert_int_equal(read_changed("l1d.write = \"through\"", "l1d.write = \"back\"", &m, error,
				      sizeof(error)), 0);
	assert_int_equal(m.l1d.write, CACHESIM_WRITE_BACK);
	assert_int_equal(read_changed("latency.remote_memory = 208", "latency.remote_memory = 300",
				      &m, error, sizeof(error)), 0);
	assert_int_equal(m.latency.memory, 208);
	assert_int_equal(m.latency.remote_memory, 300);
	/* A last line without a newline. */
	assert_int_equal(read_changed("interrupt = 1300        # 1 us\n", "interrupt = 0", &m, error,
				      sizeof(error)), 0);
	assert_int_equal(m.interrupt, 0);
}

TEST(bad_files_are_told_what_is_wrong_and_where)
{
	static const struct {
		const char *old, *new, *says;
	} cases[] = {
		{ "pause = 10 ", "pause = 9 ", "pause = 9: a whole number from 10 to 10000" },
		{ "mhz = 1300", "mhz = 0", ":5: mhz = 0: a whole number from 1 to 100000" },
		{ "mhz = 1300", "mhz = 100001", "mhz = 100001: a whole number from 1 to 100000" },
		{ "mhz = 1300", "mhz = -1", "mhz = -1: a whole number" },
		{ "mhz = 1300", "mhz = 01300", "mhz = 01300: a whole number" },
		{ "mhz = 1300", "mhz = 1300.0", "mhz = 1300.0: a whole number" },
		{ "mhz = 1300", "mhz = 4294968596", "mhz = 4294968596: a whole number" },
		{ "mhz = 1300", "mhz = \"1300\"", "mhz = \"1300\": a whole number" },
		{ "mhz = 1300", "mhz =", "mhz = : a whole number" },
		{ "mhz = 1300", "mhz", ":5: \"mhz\" is not KEY = VALUE" },
		{ "mhz = 1300", "[mhz]", ":5: \"[mhz]\" is not KEY = VALUE" },
		{ "mhz = 1300", "Mhz = 1300", ":5: there is no key \"Mhz\"; Documentation" },
		{ "latency.remote_memory = 208", "", "the file ends and latency.remote_memory is missing" },
		{ "mhz = 1300\n", "", "the file ends and mhz is missing" },
		{ "mhz = 1300", "mhz = 1300\nmhz = 1300",
		  ":6: mhz is given twice, first in line 5: leave one out" },
		{ "l3.shared = false", "l3.shared = 0", "l3.shared = 0: true or false is allowed" },
		{ "l3.shared = false", "l3.shared = \"true\"", "true or false is allowed" },
		{ "l1d.write = \"through\"", "l1d.write = through",
		  "l1d.write = through: \"back\" or \"through\" is allowed" },
		{ "l2.replacement = \"lru\"", "l2.replacement = \"random\"",
		  "l2.replacement = \"random\": \"lru\" or \"fifo\" is allowed" },
		{ "name = \"rx4640\"", "name = \"\"", "name: up to 31 small letters" },
		{ "name = \"rx4640\"", "name = \"RX\"", "name: up to 31 small letters" },
		{ "name = \"rx4640\"", "name = \"", "name: up to 31 small letters" },
		{ "name = \"rx4640\"", "name = rx4640", "name: up to 31 small letters" },
		{ "name = \"rx4640\"", "name = \"an-itanium-with-a-very-long-name\"",
		  "name: up to 31 small letters" },
		{ "overlap = 1", "overlap = 0", "overlap = 0: a whole number from 1 to 256" },
		{ "bus = 26", "bus = 10001", "bus = 10001: a whole number from 0 to 10000" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct cachesim_machine m;
		char error[512] = "";

		assert_int_equal(read_changed(cases[i].old, cases[i].new, &m, error, sizeof(error)),
				 -1);
		if (!strstr(error, cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error, cases[i].says);
	}
}

TEST(what_is_no_such_file_is_told)
{
	char error[512], line[300], path[] = "cachesim-machine-XXXXXX";
	int fd = mkstemp(path);
	struct cachesim_machine m;

	assert_int_equal(machine_file_read(&m, "/none.toml", error, sizeof(error)), -1);
	assert_non_null(strstr(error, "/none.toml: No such file or directory; name a machine"));
	assert_int_equal(machine_file_read(&m, "/", error, sizeof(error)), -1);
	assert_non_null(strstr(error, "/:0: cannot be read: Is a directory"));
	memset(line, '#', sizeof(line));
	assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
	assert_int_equal(machine_file_read(&m, path, error, sizeof(error)), -1);
	assert_non_null(strstr(error, ":1: the line is longer than 254 characters"));
	/* A message is cut to its buffer. */
	assert_int_equal(machine_file_read(&m, path, error, 8), -1);
	assert_int_equal(strlen(error), 7);
	close(fd);
	unlink(path);
}

RUN_TESTS(NULL, NULL)
