// SPDX-License-Identifier: GPL-2.0
#include "attribution.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sharing.h"

/* Lines and byte ranges in the result, at most. */
#define MOST_LINES 64u
#define MOST_RANGES 16u

/* The counts of code in an address space. */
struct visits {
	struct visits *next;
	const struct code *code;
	uint64_t space;
	uint64_t instructions, cycles;	/* of the code as a whole */
	struct cachesim_counts of[];	/* by instruction: everything else */
};

struct code {
	struct code *next;
	enum cachesim_mode mode;
	struct visits *visits;	/* one for each address space */
	size_t n;
	uint64_t addresses[];
};

struct attribution {
	const struct cachesim *model;
	struct sharing *sharing;
	struct code *all;
	struct {
		struct visits *visits;	/* of what it executes; NULL: nothing yet */
		/* The model's counts at the last look. */
		struct cachesim_counts seen[CACHESIM_MODES];
	} cpu[CACHESIM_MAX_CPUS];
};

struct attribution *attribution_new(const struct cachesim *model)
{
	struct attribution *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->model = model;
	a->sharing = sharing_new(cachesim_machine(model)->l2.line, cachesim_cpus(model));
	if (a->sharing)
		return a;
	free(a);
	return NULL;
}

static void free_visits(struct code *code)
{
	while (code->visits) {
		struct visits *v = code->visits;

		code->visits = v->next;
		free(v);
	}
}

void attribution_free(struct attribution *a)
{
	if (!a)
		return;
	while (a->all) {
		struct code *code = a->all;

		a->all = code->next;
		free_visits(code);
		free(code);
	}
	sharing_free(a->sharing);
	free(a);
}

void attribution_begin(struct attribution *a)
{
	for (struct code *code = a->all; code; code = code->next)
		free_visits(code);
	memset(a->cpu, 0, sizeof(a->cpu));
	sharing_begin(a->sharing);
}

struct code *attribution_code(struct attribution *a, enum cachesim_mode mode, size_t n)
{
	struct code *code = malloc(sizeof(*code) + n * sizeof(code->addresses[0]));

	if (!code)
		return NULL;
	*code = (struct code){ .next = a->all, .mode = mode };
	a->all = code;
	return code;
}

void attribution_add(struct code *code, uint64_t address)
{
	code->addresses[code->n++] = address;
}

uint64_t attribution_address(const struct code *code)
{
	return code->addresses[0];
}

static struct visits *visits_in(struct code *code, uint64_t space)
{
	struct visits *v = code->visits;

	while (v && v->space != space)
		v = v->next;
	if (v)
		return v;
	v = calloc(1, sizeof(*v) + code->n * sizeof(v->of[0]));
	if (!v)
		return NULL;
	v->code = code;
	v->space = space;
	v->next = code->visits;
	code->visits = v;
	return v;
}

int attribution_enter(struct attribution *a, unsigned int cpu, struct code *code, uint64_t space)
{
	const struct cachesim_counts *now = cachesim_counts(a->model, cpu, code->mode);
	struct cachesim_counts *seen = &a->cpu[cpu].seen[code->mode];
	struct visits *v = visits_in(code, space);

	if (!v)
		return -1;
	a->cpu[cpu].visits = v;
	v->instructions += now->instructions - seen->instructions;
	v->cycles += now->cycles - seen->cycles;
	seen->instructions = now->instructions;
	seen->cycles = now->cycles;
	return 0;
}

/*
 * Nearly every access hits the L1, and then the model counts only references, which are not
 * reported.
 */
static bool only_hits(const struct cachesim_counts *now, const struct cachesim_counts *seen)
{
	return now->cycles == seen->cycles && now->bus_requests == seen->bus_requests &&
	       now->l1d_misses == seen->l1d_misses && now->l1i_misses == seen->l1i_misses &&
	       now->l2_misses == seen->l2_misses && now->invalidations == seen->invalidations;
}

void attribution_charge(struct attribution *a, unsigned int cpu, size_t place)
{
	struct visits *v = a->cpu[cpu].visits;
	const struct cachesim_counts *now;
	struct cachesim_counts *seen;

	if (!v)
		return;
	now = cachesim_counts(a->model, cpu, v->code->mode);
	seen = &a->cpu[cpu].seen[v->code->mode];
	if (only_hits(now, seen))
		return;
	/* QEMU repeats an access to a device in a block of its own, which is not entered. */
	cachesim_add(&v->of[place < v->code->n ? place : 0], now, seen);
	*seen = *now;
}

static int touch_line(struct attribution *a, bool moved, uint64_t physical, unsigned int size,
		      uint64_t stall, const struct sharing_access *access)
{
	if (moved && sharing_watch(a->sharing, physical, access))
		return -1;
	sharing_touch(a->sharing, physical, size, stall, access);
	return 0;
}

int attribution_access(struct attribution *a, unsigned int cpu, size_t place, uint64_t address,
		       uint64_t physical, unsigned int size, bool store)
{
	const struct visits *v = a->cpu[cpu].visits;
	enum cachesim_mode mode = v ? v->code->mode : CACHESIM_KERNEL;
	const struct cachesim_counts *now = cachesim_counts(a->model, cpu, mode);
	const struct cachesim_counts *seen = &a->cpu[cpu].seen[mode];
	uint64_t stall = now->stall_cycles - seen->stall_cycles;
	bool moved = now->cache_to_cache != seen->cache_to_cache ||
		     now->invalidations != seen->invalidations;
	unsigned int line = cachesim_machine(a->model)->l2.line;
	struct sharing_access access = {
		.cpu = cpu,
		.store = store,
		.instruction = v && place < v->code->n ? v->code->addresses[place] : 0,
		.space = v ? v->space : 0,
		.address = address,
	};

	while (size) {
		unsigned int here = line - (physical & (line - 1));

		if (here > size)
			here = size;
		if (touch_line(a, moved, physical, here, stall, &access))
			return -1;
		physical += here;
		access.address += here;
		size -= here;
		stall = 0;	/* told of the first */
	}
	attribution_charge(a, cpu, place);
	return 0;
}

/* A row of the result, before rows of the same address are added up. */
struct entry {
	const struct visits *visits;
	size_t index;
};

static uint64_t address_of(const struct entry *e)
{
	return e->visits->code->addresses[e->index];
}

static bool same_code(const struct entry *a, const struct entry *b)
{
	return a->visits->code->mode == b->visits->code->mode &&
	       a->visits->space == b->visits->space;
}

static bool same_instruction(const struct entry *a, const struct entry *b)
{
	return same_code(a, b) && address_of(a) == address_of(b);
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	enum cachesim_mode mode_a = a->visits->code->mode, mode_b = b->visits->code->mode;

	if (mode_a != mode_b)
		return mode_a < mode_b ? -1 : 1;
	if (a->visits->space != b->visits->space)
		return a->visits->space < b->visits->space ? -1 : 1;
	return address_of(a) < address_of(b) ? -1 : address_of(a) > address_of(b);
}

/* Every instruction that was executed, sorted; NULL without memory. */
static struct entry *entries(const struct attribution *a, size_t *n)
{
	struct entry *all;
	size_t room = 1;

	for (const struct code *code = a->all; code; code = code->next)
		for (const struct visits *v = code->visits; v; v = v->next)
			room += code->n;
	all = malloc(room * sizeof(*all));
	*n = 0;
	if (!all)
		return NULL;
	for (const struct code *code = a->all; code; code = code->next)
		for (const struct visits *v = code->visits; v; v = v->next)
			for (size_t i = 0; i < code->n; i++)
				all[(*n)++] = (struct entry){ v, i };
	qsort(all, *n, sizeof(*all), compare);
	return all;
}

static void add_entry(struct cachesim_counts *sum, const struct entry *e)
{
	static const struct cachesim_counts none;
	const struct visits *v = e->visits;
	size_t n = v->code->n;

	/* The first instruction gets the rest of the divisions. */
	sum->instructions += v->instructions / n + (e->index ? 0 : v->instructions % n);
	sum->cycles += v->cycles / n + (e->index ? 0 : v->cycles % n);
	cachesim_add(sum, &v->of[e->index], &none);
}

static const struct {
	const char *name;
	size_t offset;
} events[] = {
	{ "instructions", offsetof(struct cachesim_counts, instructions) },
	{ "l1i_misses", offsetof(struct cachesim_counts, l1i_misses) },
	{ "l1d_misses", offsetof(struct cachesim_counts, l1d_misses) },
	{ "l2_misses", offsetof(struct cachesim_counts, l2_misses) },
	{ "l3_misses", offsetof(struct cachesim_counts, l3_misses) },
	{ "bus_requests", offsetof(struct cachesim_counts, bus_requests) },
	{ "cache_to_cache", offsetof(struct cachesim_counts, cache_to_cache) },
	{ "stall_cycles", offsetof(struct cachesim_counts, stall_cycles) },
	{ "cycles", offsetof(struct cachesim_counts, cycles) },
};

#define EVENTS (sizeof(events) / sizeof(events[0]))

static void put_instruction(FILE *out, uint64_t address, const struct cachesim_counts *counts)
{
	const char *fields = (const char *)counts;

	fprintf(out, "[%" PRIu64, address);
	for (size_t i = 0; i < EVENTS; i++)
		fprintf(out, ",%" PRIu64, *(const uint64_t *)(fields + events[i].offset));
	fputc(']', out);
}

static void put_code(FILE *out, const struct entry *all, size_t n, uint64_t program)
{
	static const char *const modes[CACHESIM_MODES] = {
		[CACHESIM_USER] = "user", [CACHESIM_KERNEL] = "kernel", [CACHESIM_IDLE] = "idle",
	};

	fputs("\"code\":[", out);
	for (size_t i = 0; i < n;) {
		struct cachesim_counts sum = { 0 };
		const struct entry *first = &all[i];

		if (!i || !same_code(first - 1, first))
			fprintf(out, "%s{\"mode\":\"%s\",\"program\":%s,\"instructions\":[",
				i ? "]}," : "", modes[first->visits->code->mode],
				first->visits->space && first->visits->space == program ? "true"
											: "false");
		else
			fputc(',', out);
		for (; i < n && same_instruction(first, &all[i]); i++)
			add_entry(&sum, &all[i]);
		put_instruction(out, address_of(first), &sum);
	}
	fputs(n ? "]}]" : "]", out);
}

static void put_ranges(FILE *out, const char *name, const struct byte_range *ranges, size_t n)
{
	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s[%u,%u]", i ? "," : "", ranges[i].first, ranges[i].last);
	fputc(']', out);
}

/* Returns false if the CPU has no part in fetches in vain. */
static bool put_user(FILE *out, const struct sharing *s, const struct moved_line *line,
		     unsigned int cpu, const char *comma)
{
	const struct line_user *user = &line->users[cpu];
	struct byte_range ranges[MOST_RANGES];
	size_t stores = sharing_bytes(s, line, cpu, true, ranges, MOST_RANGES);

	if (!user->in_vain && !stores)
		return false;
	fprintf(out, "%s{\"cpu\":%u,\"moves\":%" PRIu64 ",\"in_vain\":%" PRIu64
		",\"instruction\":%" PRIu64, comma, cpu, user->moves, user->in_vain,
		user->instruction);
	put_ranges(out, "stores", ranges, stores);
	put_ranges(out, "loads", ranges, sharing_bytes(s, line, cpu, false, ranges, MOST_RANGES));
	fputc('}', out);
	return true;
}

static void put_line(FILE *out, const struct attribution *a, const struct moved_line *line,
		     uint64_t program)
{
	const char *comma = "";

	fprintf(out, "{\"mode\":\"%s\",\"program\":%s,\"address\":%" PRIu64 ",\"moves\":%" PRIu64
		",\"in_vain\":%" PRIu64 ",\"stall_cycles\":%" PRIu64 ",\"cpus\":[",
		line->space ? "user" : "kernel",
		line->space && line->space == program ? "true" : "false", line->address,
		line->moves, line->in_vain, line->stall);
	for (unsigned int cpu = 0; cpu < cachesim_cpus(a->model); cpu++)
		if (put_user(out, a->sharing, line, cpu, comma))
			comma = ",";
	fputs("]}", out);
}

static void put_lines(FILE *out, const struct attribution *a,
		      const struct moved_line *const *lines, size_t n, uint64_t program)
{
	fprintf(out, ",\"line_bytes\":%u,\"lines\":[", cachesim_machine(a->model)->l2.line);
	for (size_t i = 0; i < n && i < MOST_LINES && lines[i]->in_vain; i++) {
		fputs(i ? "," : "", out);
		put_line(out, a, lines[i], program);
	}
	fputc(']', out);
}

char *attribution_format(struct attribution *a, uint64_t program, const uint64_t *per_cpu,
			 size_t *length)
{
	size_t n, n_lines;
	struct entry *all = entries(a, &n);
	const struct moved_line *const *lines = sharing_lines(a->sharing, &n_lines);
	char *text = NULL;
	FILE *out = all && lines ? open_memstream(&text, length) : NULL;

	if (!out) {
		free(all);
		return NULL;
	}
	fprintf(out, "{\"schema\":1,\"cycle\":%u,\"events\":[", CACHESIM_CYCLE);
	for (size_t i = 0; i < EVENTS; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", events[i].name);
	fputs("],", out);
	put_code(out, all, n, program);
	put_lines(out, a, lines, n_lines, program);
	fputs(",\"per_cpu\":[", out);
	for (unsigned int cpu = 0; cpu < cachesim_cpus(a->model); cpu++)
		fprintf(out, "%s%" PRIu64, cpu ? "," : "", per_cpu[cpu]);
	fputs("]}\n", out);
	free(all);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
