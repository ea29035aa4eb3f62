// SPDX-License-Identifier: GPL-2.0
/* The JSON line: every name and number in its place; appending loses nothing silently. */
#include "test_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "document.h"

#define ZERO "{\"instructions\":0,\"l1i_references\":0,\"l1i_misses\":0,\"l1d_references\":0," \
	"\"l1d_misses\":0,\"l2_references\":0,\"l2_misses\":0,\"l3_references\":0," \
	"\"l3_misses\":0,\"bus_requests\":0,\"cache_to_cache\":0,\"invalidations\":0," \
	"\"writebacks\":0,\"cycles\":0,\"stall_cycles\":0,\"bus_wait_cycles\":0}"
/* 5 instructions in one line, a load, a store: two missing lines. */
#define USER "{\"instructions\":5,\"l1i_references\":1,\"l1i_misses\":1,\"l1d_references\":2," \
	"\"l1d_misses\":2,\"l2_references\":3,\"l2_misses\":2,\"l3_references\":2," \
	"\"l3_misses\":2,\"bus_requests\":2,\"cache_to_cache\":0,\"invalidations\":0," \
	"\"writebacks\":0,\"cycles\":228,\"stall_cycles\":223,\"bus_wait_cycles\":0}"
#define LEVEL(size, ways, line, write) "{\"size\":" #size ",\"ways\":" #ways ",\"line\":" #line \
	",\"write\":\"" write "\",\"replacement\":\"lru\",\"shared\":false}"

static const char expected[] =
	"{\"schema\":1,\"preset\":\"tiny\",\"cpus\":2,\"mhz\":1000,\"elapsed_cycles\":321,"
	"\"total\":{\"user\":" USER ",\"kernel\":" ZERO ",\"idle\":" ZERO "},"
	"\"per_cpu\":[{\"cpu\":0,\"user\":" ZERO ",\"kernel\":" ZERO ",\"idle\":" ZERO "},"
	"{\"cpu\":1,\"user\":" USER ",\"kernel\":" ZERO ",\"idle\":" ZERO "}],"
	"\"geometry\":{\"l1i\":" LEVEL(256, 2, 64, "back") ",\"l1d\":" LEVEL(256, 2, 64, "through")
	",\"l2\":" LEVEL(1024, 4, 128, "back") ",\"l3\":" LEVEL(2048, 8, 128, "back")
	",\"clusters\":1,\"cluster_cpus\":0,\"migratory\":false},\"latency\":{\"l2\":1,\"l3\":10,\"transfer\":0,\"next_transfer\":0,\"memory\":100,"
	"\"remote_memory\":100000,\"cache_to_cache\":1000,\"upgrade\":10000},"
	"\"cpi\":100,\"kernel_cpi\":100,\"overlap\":1,\"overlap_window\":0,\"bus\":0,\"pause\":12,\"context_switch\":9,\"wakeup\":7,\"interrupt\":6,"
	"\"latencies\":{\"handoff\":{\"count\":0,\"mean_ns\":null,\"p50_ns\":null,\"p90_ns\":null,"
	"\"p99_ns\":null,\"p99.9_ns\":null,\"max_ns\":null},"
	"\"wakeup\":{\"count\":20,\"mean_ns\":105,\"p50_ns\":100,\"p90_ns\":180,\"p99_ns\":200,"
	"\"p99.9_ns\":200,\"max_ns\":200}}}\n";

TEST(the_document_is_exactly_this)
{
	struct region_latencies latencies = { 0 };
	struct cachesim_machine m = tiny;
	uint64_t line = 0x1000 >> 6;
	struct cachesim *cs;
	size_t length;
	char *text;

	m.wakeup = 7;
	m.pause = 12;
	m.context_switch = 9;
	m.interrupt = 6;
	cs = model(&m, 2);
	cachesim_execute(cs, 1, CACHESIM_USER, 5, &line, 1);
	cachesim_load(cs, 1, 0, 8);
	cachesim_store(cs, 1, 64, 8);
	for (uint64_t ns = 10; ns <= 200; ns += 10)
		assert_int_equal(latencies_add(&latencies.wakeup, ns), 0);
	text = document_format(cs, 321, &latencies, NULL, &length);
	assert_string_equal(text, expected);
	assert_int_equal(length, strlen(expected));
	free(text);
	latencies_free(&latencies.wakeup);
	cachesim_free(cs);
}

TEST(remote_memory_is_told_of_several_nodes)
{
	static const char none[] = "\"bus_wait_cycles\":0,\"remote_memory\":0}";
	static const char one[] = "\"bus_wait_cycles\":0,\"remote_memory\":1}";
	const struct region_latencies latencies = { 0 };
	struct cachesim_machine m = tiny;
	unsigned int nones = 0, ones = 0;
	struct cachesim *cs;
	size_t length;
	char *text;

	m.clusters = 2;
	cs = model(&m, 2);
	assert_null(cachesim_set_node_memory(cs, 4096));
	cachesim_load(cs, 0, 4096, 8);
	text = document_format(cs, 0, &latencies, NULL, &length);
	for (const char *at = text; (at = strstr(at, "\"bus_wait_cycles\"")); at++) {
		nones += !strncmp(at, none, strlen(none));
		ones += !strncmp(at, one, strlen(one));
	}
	assert_int_equal(ones, 2);	/* in total and CPU 0's, */
	assert_int_equal(nones, 7);	/* of three modes each */
	free(text);
	cachesim_free(cs);
}

TEST(futexes_are_told_when_they_are_counted)
{
	static const char futexes[] =
		",\"futexes\":["
		"{\"program\":true,\"address\":4210752,\"wakes\":1,\"handoffs\":1,\"pi_unlocks\":0,"
		"\"left\":3,\"local\":1,\"remote\":2,\"moved\":4,"
		"\"handoff\":{\"count\":5,\"ns\":50},\"hold_local\":{\"count\":6,\"ns\":60},"
		"\"hold_remote\":{\"count\":7,\"ns\":70},\"outside\":{\"count\":8,\"ns\":80}},"
		"{\"program\":false,\"address\":140737488355327,\"wakes\":1,\"handoffs\":0,"
		"\"pi_unlocks\":0,\"left\":0,\"local\":0,\"remote\":0,\"moved\":0,"
		"\"handoff\":{\"count\":0,\"ns\":0},\"hold_local\":{\"count\":0,\"ns\":0},"
		"\"hold_remote\":{\"count\":0,\"ns\":0},\"outside\":{\"count\":0,\"ns\":0}}],"
		"\"call_sites\":["
		"{\"address\":4210756,\"releases\":false,\"pc\":4198400,\"sp\":512,\"bp\":0,"
		"\"stack\":[]},"
		"{\"address\":4210752,\"releases\":true,\"pc\":0,\"sp\":0,\"bp\":600,"
		"\"stack\":[18446744073709551615,7],\"allocation\":{\"pc\":1,\"sp\":2,\"bp\":3,"
		"\"stack\":[4,5]}}],\"heap\":81920}\n";
	const uint64_t waits[] = { 4210756, 0, 2 };
	const uint64_t mine[] = { 4210752, 1, 1 }, others[] = { 140737488355327, 1, 1 };
	const struct region_latencies none = { 0 };
	struct futexes *f = futexes_new(FUTEXES_OWN);
	struct call_sites *sites = call_sites_new(f);
	struct region_locks locks = { f, sites, 0 };
	struct cachesim *cs = model(&tiny, 1);
	struct call_site *site;
	size_t length;
	char *text;

	futexes_begin(f, 0x2000);
	/* A wait alone puts no futex into the document. */
	assert_int_equal(call_sites_call(sites, 0x2000, 202, waits, &site), 0);
	site->pc = 4198400;
	site->sp = 512;
	text = document_format(cs, 0, &none, &locks, &length);
	assert_non_null(strstr(text, ",\"futexes\":[],\"call_sites\":[{"));
	assert_non_null(strstr(text, "}],\"heap\":null}\n"));
	free(text);
	futexes_call(f, 0x1000, 1, 202, others);
	futexes_return(f, 0x1000, 1, 0);
	futexes_call(f, 0x2000, 1, 202, mine);
	futexes_return(f, 0x2000, 1, 1);
	futexes_at(f, 0x2000, 4210752)->use = (struct lock_use){
		3, 1, 2, 4, { 5, 50 }, { 6, 60 }, { 7, 70 }, { 8, 80 }, 0, 0,
	};
	assert_int_equal(call_sites_call(sites, 0x2000, 202, mine, &site), 0);
	site->bp = 600;
	site->stack[0] = UINT64_MAX;
	site->stack[1] = 7;
	site->n = 2;
	site->allocation = (struct allocation_site){ 1, 2, 3, 2, { 4, 5 } };
	locks.heap = 81920;
	text = document_format(cs, 0, &none, &locks, &length);
	assert_string_equal(text + length - strlen(futexes), futexes);
	free(text);
	call_sites_free(sites);
	futexes_free(f);
	cachesim_free(cs);
}

TEST(documents_are_appended)
{
	char name[] = "cachesim-document-XXXXXX";
	int fd = mkstemp(name);
	char read_back[16] = "";

	assert_int_equal(document_append(fd, "one\n", 4), 0);
	assert_int_equal(document_append(fd, "two\n", 4), 0);
	assert_int_equal(pread(fd, read_back, sizeof(read_back), 0), 8);
	assert_string_equal(read_back, "one\ntwo\n");
	close(fd);
	unlink(name);
}

TEST(a_full_disk_is_reported)
{
	int fd = open("/dev/full", O_WRONLY);

	assert_int_equal(document_append(fd, "one\n", 4), -1);
	assert_int_equal(errno, ENOSPC);
	close(fd);
}

RUN_TESTS(NULL, NULL)
