/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One set-associative array. An entry packs a line's number (address / line
 * size) and its MESI state in one word, so a set is scanned with one compare
 * per way. Within a set the entries stand in replacement order, the next to
 * leave last; empty entries (0) come last.
 */
#ifndef CACHE_ARRAY_H
#define CACHE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cachesim.h"

struct cache_array {
	uint64_t *entries;	/* sets * ways */
	uint64_t set_mask;
	uint32_t ways;
	uint32_t shift;		/* log2 of the line size */
	bool lru;
};

static inline uint64_t *cache_set(const struct cache_array *a, uint64_t line)
{
	return a->entries + (line & a->set_mask) * a->ways;
}

static inline enum cachesim_state entry_state(uint64_t entry)
{
	return entry & 3;
}

static inline uint64_t entry_line(uint64_t entry)
{
	return entry >> 2;
}

/* True when `entry` is a valid copy of `line`: the difference is a state but not I. */
static inline bool entry_holds(uint64_t entry, uint64_t line)
{
	return (entry ^ line << 2) - 1 < 3;
}

static inline void entry_set_state(uint64_t *entry, enum cachesim_state state)
{
	*entry = (*entry & ~3ull) | state;
}

/* The entry of `line`, or NULL. Its place in the replacement order stays. */
static inline uint64_t *cache_find(const struct cache_array *a, uint64_t line)
{
	uint64_t *set = cache_set(a, line);

	for (uint32_t i = 0; i < a->ways; i++)
		if (entry_holds(set[i], line))
			return &set[i];
	return NULL;
}

/* The entry of `line`, used now, or NULL. */
static inline uint64_t *cache_use(const struct cache_array *a, uint64_t line)
{
	uint64_t *set = cache_set(a, line);
	uint64_t *entry, hit;

	if (entry_holds(set[0], line))
		return set;
	entry = cache_find(a, line);
	if (!entry || !a->lru)
		return entry;
	hit = *entry;
	for (; entry > set; entry--)
		entry[0] = entry[-1];
	*set = hit;
	return set;
}

/* Put in `line`, which the array does not hold. Returns the entry that left, or 0. */
static inline uint64_t cache_insert(const struct cache_array *a, uint64_t line,
				    enum cachesim_state state)
{
	uint64_t *set = cache_set(a, line);
	uint64_t victim = set[a->ways - 1];

	for (uint32_t i = a->ways - 1; i; i--)
		set[i] = set[i - 1];
	set[0] = line << 2 | state;
	return victim;
}

/* Remove `line` if it is there. */
static inline void cache_drop(const struct cache_array *a, uint64_t line)
{
	uint64_t *entry = cache_find(a, line);
	uint64_t *last = cache_set(a, line) + a->ways - 1;

	if (!entry)
		return;
	for (; entry < last; entry++)
		entry[0] = entry[1];
	*last = 0;
}

/* Give `line` another state if it is there. */
static inline void cache_mark(const struct cache_array *a, uint64_t line,
			      enum cachesim_state state)
{
	uint64_t *entry = cache_find(a, line);

	if (entry)
		entry_set_state(entry, state);
}

#endif
