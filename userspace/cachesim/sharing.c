// SPDX-License-Identifier: GPL-2.0
#include "sharing.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64u
#define FIRST_SLOTS 1024u

/* Sets of a line's bytes, of each CPU. */
enum bytes {
	NEWS,		/* other CPUs have written them since this CPU lost the line */
	LOADED,		/* this CPU has loaded them since it fetched the line */
	STORED,		/* this CPU has stored them since it fetched the line */
	VAIN_LOADED,	/* LOADED, of all fetches in vain */
	VAIN_STORED,	/* STORED, of all fetches in vain by this CPU or caused by it */
	BYTE_SETS
};

/* A CPU's copy of a line. */
struct copy {
	bool held;	/* no other CPU has written to the line since this CPU touched it */
	bool in_vain;	/* fetched anew, and no byte of NEWS touched yet */
	uint64_t instruction;	/* the one that fetched it */
};

struct line {
	struct moved_line told;	/* first: sharing_lines() returns it */
	struct copy *copies;	/* by CPU */
	uint64_t *sets;		/* by CPU: BYTE_SETS of `words` words each */
};

/* A slot of a hash table by the line's number, with linear probing; empty without a line. */
struct slot {
	uint64_t number;
	struct line *line;
};

struct sharing {
	unsigned int shift, cpus, words;
	struct slot *slots;
	size_t n_slots, used;	/* a power of two, of which at most half are used */
	const struct moved_line **moved;
};

struct sharing *sharing_new(unsigned int line_bytes, unsigned int cpus)
{
	struct sharing *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->shift = __builtin_ctz(line_bytes);
	s->cpus = cpus;
	s->words = (line_bytes + WORD_BITS - 1) / WORD_BITS;
	s->n_slots = FIRST_SLOTS;
	s->slots = calloc(s->n_slots, sizeof(*s->slots));
	if (s->slots)
		return s;
	free(s);
	return NULL;
}

static void free_line(struct line *line)
{
	free(line->told.users);
	free(line->copies);
	free(line->sets);
	free(line);
}

void sharing_begin(struct sharing *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].line)
			free_line(s->slots[i].line);
	memset(s->slots, 0, s->n_slots * sizeof(*s->slots));
	s->used = 0;
	free(s->moved);
	s->moved = NULL;
}

void sharing_free(struct sharing *s)
{
	if (!s)
		return;
	sharing_begin(s);
	free(s->slots);
	free(s);
}

/* The slot of a line, or the empty one where it belongs. */
static struct slot *slot_of(struct slot *slots, size_t n, uint64_t number)
{
	size_t i = (number * 0x9e3779b97f4a7c15ull >> 32) & (n - 1);

	while (slots[i].line && slots[i].number != number)
		i = (i + 1) & (n - 1);
	return &slots[i];
}

static struct line *line_at(const struct sharing *s, uint64_t physical)
{
	return slot_of(s->slots, s->n_slots, physical >> s->shift)->line;
}

static int grow(struct sharing *s)
{
	size_t n = 2 * s->n_slots;
	struct slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].line)
			*slot_of(slots, n, s->slots[i].number) = s->slots[i];
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	return 0;
}

static struct line *new_line(const struct sharing *s)
{
	struct line *line = calloc(1, sizeof(*line));

	if (!line)
		return NULL;
	line->told.users = calloc(s->cpus, sizeof(*line->told.users));
	line->copies = calloc(s->cpus, sizeof(*line->copies));
	line->sets = calloc((size_t)s->cpus * BYTE_SETS * s->words, sizeof(*line->sets));
	if (line->told.users && line->copies && line->sets)
		return line;
	free_line(line);
	return NULL;
}

/* A program's address of a line takes precedence over the kernel's. */
static void name_line(const struct sharing *s, struct line *line,
		      const struct sharing_access *access)
{
	if (line->told.address && (line->told.space || !access->space))
		return;
	line->told.space = access->space;
	line->told.address = access->address & ~((1ull << s->shift) - 1);
}

int sharing_watch(struct sharing *s, uint64_t physical, const struct sharing_access *access)
{
	uint64_t number = physical >> s->shift;
	struct slot *slot;

	if (line_at(s, physical))
		return 0;
	if (2 * s->used >= s->n_slots && grow(s))
		return -1;
	slot = slot_of(s->slots, s->n_slots, number);
	slot->line = new_line(s);
	if (!slot->line)
		return -1;
	slot->number = number;
	s->used++;
	name_line(s, slot->line, access);
	return 0;
}

static uint64_t *set_of(const struct sharing *s, const struct line *line, unsigned int cpu,
			enum bytes which)
{
	return line->sets + ((size_t)cpu * BYTE_SETS + which) * s->words;
}

/* Bits of `size` bytes of the line from `from` on, as far as they are in one word. */
static uint64_t mask_of(unsigned int word, unsigned int from, unsigned int size)
{
	unsigned int begin = word * WORD_BITS, last = from + size - 1;
	unsigned int low = from > begin ? from - begin : 0;
	unsigned int high = last < begin + WORD_BITS - 1 ? last - begin : WORD_BITS - 1;

	if (from >= begin + WORD_BITS || last < begin)
		return 0;
	return ~0ull >> (WORD_BITS - 1 - high) & ~0ull << low;
}

static void add_bytes(const struct sharing *s, uint64_t *set, unsigned int from, unsigned int size)
{
	for (unsigned int i = 0; i < s->words; i++)
		set[i] |= mask_of(i, from, size);
}

static bool has_bytes(const struct sharing *s, const uint64_t *set, unsigned int from,
		      unsigned int size)
{
	for (unsigned int i = 0; i < s->words; i++)
		if (set[i] & mask_of(i, from, size))
			return true;
	return false;
}

static void clear(const struct sharing *s, uint64_t *set)
{
	memset(set, 0, s->words * sizeof(*set));
}

static void join(const struct sharing *s, uint64_t *set, const uint64_t *more)
{
	for (unsigned int i = 0; i < s->words; i++)
		set[i] |= more[i];
}

/* The CPU loses the line. */
static void settle(const struct sharing *s, struct line *line, unsigned int cpu)
{
	struct copy *copy = &line->copies[cpu];

	if (!copy->in_vain)
		return;
	copy->in_vain = false;
	line->told.in_vain++;
	line->told.users[cpu].in_vain++;
	line->told.users[cpu].instruction = copy->instruction;
	join(s, set_of(s, line, cpu, VAIN_LOADED), set_of(s, line, cpu, LOADED));
	for (unsigned int one = 0; one < s->cpus; one++)
		join(s, set_of(s, line, one, VAIN_STORED), set_of(s, line, one, STORED));
}

/* Another CPU writes to these bytes. */
static void lose(const struct sharing *s, struct line *line, unsigned int cpu, unsigned int from,
		 unsigned int size)
{
	struct copy *copy = &line->copies[cpu];
	uint64_t *news = set_of(s, line, cpu, NEWS);

	if (copy->held) {
		settle(s, line, cpu);
		copy->held = false;
		clear(s, news);
	}
	add_bytes(s, news, from, size);
}

static void fetch(const struct sharing *s, struct line *line, const struct sharing_access *access)
{
	struct copy *copy = &line->copies[access->cpu];
	const uint64_t *news = set_of(s, line, access->cpu, NEWS);

	copy->held = true;
	copy->instruction = access->instruction;
	clear(s, set_of(s, line, access->cpu, LOADED));
	clear(s, set_of(s, line, access->cpu, STORED));
	for (unsigned int i = 0; i < s->words && !copy->in_vain; i++)
		copy->in_vain = news[i];
	line->told.moves += copy->in_vain;
	line->told.users[access->cpu].moves += copy->in_vain;
}

void sharing_touch(struct sharing *s, uint64_t physical, unsigned int size, uint64_t stall,
		   const struct sharing_access *access)
{
	unsigned int from = physical & ((1ull << s->shift) - 1), cpu = access->cpu;
	struct line *line = line_at(s, physical);

	if (!line)
		return;
	name_line(s, line, access);
	line->told.stall += stall;
	if (!line->copies[cpu].held)
		fetch(s, line, access);
	if (has_bytes(s, set_of(s, line, cpu, NEWS), from, size))
		line->copies[cpu].in_vain = false;
	add_bytes(s, set_of(s, line, cpu, access->store ? STORED : LOADED), from, size);
	for (unsigned int other = 0; access->store && other < s->cpus; other++)
		if (other != cpu)
			lose(s, line, other, from, size);
}

/* More moves in vain first; then by name, so that equal runs give equal texts. */
static int compare(const void *left, const void *right)
{
	const struct moved_line *a = *(const struct moved_line *const *)left;
	const struct moved_line *b = *(const struct moved_line *const *)right;

	if (a->in_vain != b->in_vain)
		return a->in_vain < b->in_vain ? 1 : -1;
	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

const struct moved_line *const *sharing_lines(struct sharing *s, size_t *n)
{
	free(s->moved);
	s->moved = malloc((s->used + 1) * sizeof(*s->moved));
	*n = 0;
	if (!s->moved)
		return NULL;
	for (size_t i = 0; i < s->n_slots; i++) {
		struct line *line = s->slots[i].line;

		for (unsigned int cpu = 0; line && cpu < s->cpus; cpu++)
			settle(s, line, cpu);
		if (line && line->told.moves)
			s->moved[(*n)++] = &line->told;
	}
	qsort(s->moved, *n, sizeof(*s->moved), compare);
	return s->moved;
}

size_t sharing_bytes(const struct sharing *s, const struct moved_line *line, unsigned int cpu,
		     bool stored, struct byte_range *ranges, size_t room)
{
	const uint64_t *set = set_of(s, (const struct line *)line, cpu,
				     stored ? VAIN_STORED : VAIN_LOADED);
	unsigned int bytes = 1u << s->shift;
	size_t n = 0;

	for (unsigned int i = 0; i < bytes; i++) {
		if (!(set[i / WORD_BITS] >> i % WORD_BITS & 1))
			continue;
		if (n && ranges[n - 1].last == i - 1) {
			ranges[n - 1].last = i;
			continue;
		}
		if (n == room)
			break;
		ranges[n++] = (struct byte_range){ i, i };
	}
	return n;
}
