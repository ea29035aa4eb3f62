// SPDX-License-Identifier: GPL-2.0
/*
 * Replays the trace of "valgrind --tool=lackey --trace-mem=yes" through the
 * model by cachegrind's rules and prints the counts under cachegrind's names.
 *
 * usage: cachegrind-replay TRACE I1 D1 LL	(each size,ways,line)
 *
 * Cachegrind has two levels, so the model's L2 stands for its LL and the L3 is
 * large enough never to evict. The rules that differ are settled here:
 * cachegrind counts an access across two lines as one reference and at most one
 * miss, a read-modify-write as one read, and makes no difference between reads
 * and writes in its caches (so a store is replayed as a load).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cachesim.h"

struct tally {
	uint64_t references, l1_misses, ll_misses;
};

static struct cachesim_level level(const char *text)
{
	struct cachesim_level l = { 0 };

	if (sscanf(text, "%u,%u,%u", &l.size, &l.ways, &l.line) != 3) {
		fprintf(stderr, "cachegrind-replay: %s is not size,ways,line\n", text);
		exit(2);
	}
	return l;
}

static void replay(struct cachesim *cs, struct tally *t, char kind, uint64_t address,
		   unsigned int size)
{
	const struct cachesim_counts *now = cachesim_counts(cs, 0, CACHESIM_USER);
	uint64_t l1 = now->l1i_misses + now->l1d_misses;
	uint64_t l2 = now->l2_misses;
	unsigned int shift = cachesim_fetch_shift(cs);
	uint64_t lines[] = { address >> shift, (address + size - 1) >> shift };

	if (kind == 'I')
		cachesim_execute(cs, 0, CACHESIM_USER, 1, lines, lines[0] == lines[1] ? 1 : 2);
	else
		cachesim_load(cs, 0, address, size);
	t->references++;
	t->l1_misses += now->l1i_misses + now->l1d_misses != l1;
	t->ll_misses += now->l2_misses != l2;
}

int main(int argc, char **argv)
{
	struct cachesim_machine machine = {
		.name = "cachegrind",
		.mhz = 1000,
		.cpi = CACHESIM_CYCLE,
		.kernel_cpi = CACHESIM_CYCLE,
		.overlap = 1,
		.l3 = { .size = 64u << 20, .ways = 16 },
		.clusters = 1,
	};
	struct tally fetch = { 0 }, read = { 0 }, write = { 0 };
	char text[256], kind;
	struct cachesim *cs;
	const char *error;
	uint64_t address;
	unsigned int size;
	FILE *trace;

	if (argc != 5)
		return 2;
	machine.l1i = level(argv[2]);
	machine.l1d = level(argv[3]);
	machine.l2 = level(argv[4]);
	machine.l3.line = machine.l2.line;
	cs = cachesim_new(&machine, 1, &error);
	trace = fopen(argv[1], "r");
	if (!cs || !trace) {
		fprintf(stderr, "cachegrind-replay: %s\n", cs ? argv[1] : error);
		return 2;
	}
	while (fgets(text, sizeof(text), trace)) {
		if (sscanf(text, " %c %" SCNx64 ",%u", &kind, &address, &size) != 3 ||
		    !strchr("ILSM", kind))
			continue;
		replay(cs, kind == 'I' ? &fetch : kind == 'S' ? &write : &read, kind, address, size);
	}
	printf("Ir %" PRIu64 "\nI1mr %" PRIu64 "\nILmr %" PRIu64 "\n"
	       "Dr %" PRIu64 "\nD1mr %" PRIu64 "\nDLmr %" PRIu64 "\n"
	       "Dw %" PRIu64 "\nD1mw %" PRIu64 "\nDLmw %" PRIu64 "\n",
	       fetch.references, fetch.l1_misses, fetch.ll_misses,
	       read.references, read.l1_misses, read.ll_misses,
	       write.references, write.l1_misses, write.ll_misses);
	fclose(trace);
	cachesim_free(cs);
	return 0;
}
