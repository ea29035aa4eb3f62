// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Victims: an order (random, or by stealing domains) and a filter (the mask of stealability). The
 * order is drawn during the round, by a Fisher-Yates shuffle in each domain: a round that succeeds
 * early draws little, and all orders are equally likely.
 */
#include "victim.h"

#include <string.h>

#include "mix.h"
#include "place.h"
#include "tunables.h"

#define NONE ~0u

struct ivl_stealability {
	unsigned int workers, low, high;
	_Atomic uint64_t bits[];	/* one per worker */
};

static unsigned int words_of(unsigned int workers)
{
	return (workers + 63) / 64;
}

static size_t mask_bytes(unsigned int workers)
{
	return sizeof(struct ivl_stealability) + words_of(workers) * sizeof(uint64_t);
}

struct ivl_stealability *ivl_stealability_create(unsigned int workers, unsigned int low,
						 unsigned int high)
{
	struct ivl_stealability *mask = ivl_node_alloc(mask_bytes(workers), -1);

	if (!mask)
		return NULL;
	mask->workers = workers;
	mask->low = low;
	mask->high = high;
	for (unsigned int i = 0; i < words_of(workers); i++)
		atomic_init(&mask->bits[i], 0);
	return mask;
}

void ivl_stealability_destroy(struct ivl_stealability *mask)
{
	if (mask)
		ivl_node_free(mask, mask_bytes(mask->workers), -1);
}

/*
 * Relaxed: the mask is a hint, and the queue has its own ordering. Written only when a bit changes,
 * which the gap between low and high makes rare; all workers share the line.
 */
void ivl_stealability_update(struct ivl_stealability *mask, unsigned int worker,
			     unsigned int length)
{
	const uint64_t bit = 1ull << worker % 64;
	_Atomic uint64_t *word = &mask->bits[worker / 64];
	const bool is_set = atomic_load_explicit(word, memory_order_relaxed) & bit;

	if (!is_set && length >= mask->high)
		atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
	else if (is_set && length <= mask->low)
		atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
}

bool ivl_stealable(const struct ivl_stealability *mask, unsigned int worker)
{
	return atomic_load_explicit(&mask->bits[worker / 64], memory_order_relaxed) >>
	       worker % 64 & 1;
}

struct ivl_chooser {
	uint64_t random;		/* never 0 */
	const struct ivl_stealability *mask;	/* NULL: ask all workers */
	size_t bytes;
	int node;
	unsigned int next;		/* index of the next victim to draw */
	unsigned int domain;		/* its domain */
	unsigned int favourite;		/* domain whose first victim is not drawn; NONE */
	unsigned int misses;		/* fruitless rounds since the last that asked all */
	unsigned int domains;
	unsigned int *ends;		/* of the domains, in `victims` */
	unsigned int victims[];		/* nearest domain first */
};

/* xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators (2016). */
static unsigned int draw_below(struct ivl_chooser *chooser, unsigned int bound)
{
	uint64_t x = chooser->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	chooser->random = x;
	return (unsigned int)((x * 0x2545f4914f6cdd1d >> 32) * bound >> 32);
}

static void swap(unsigned int *a, unsigned int *b)
{
	unsigned int old = *a;

	*a = *b;
	*b = old;
}

/* Add the victims at one distance (NONE: all); returns their number. */
static unsigned int add_domain(struct ivl_chooser *chooser, unsigned int at,
			       const struct ivl_topology *topology, const struct ivl_place *own,
			       unsigned int worker, bool cross_place, unsigned int distance)
{
	unsigned int begin = at;

	for (unsigned int victim = 0; victim < topology->workers; victim++) {
		const struct ivl_place *place = ivl_topology_place(topology, victim);

		if (victim == worker || (place != own && !cross_place))
			continue;
		if (distance == NONE || distance == ivl_topology_distance(own, place))
			chooser->victims[at++] = victim;
	}
	if (at > begin)
		chooser->ends[chooser->domains++] = at;
	return at - begin;
}

struct ivl_chooser *ivl_chooser_create(const struct ivl_config *config,
				       const struct ivl_topology *topology,
				       struct ivl_stealability *mask,
				       const struct ivl_place *own, unsigned int worker)
{
	const unsigned int levels = own->levels;
	struct ivl_chooser *chooser;
	unsigned int at = 0;
	size_t bytes;

	bytes = sizeof(*chooser) + (topology->workers + levels) * sizeof(unsigned int);
	chooser = ivl_node_alloc(bytes, own->node);
	if (!chooser)
		return NULL;
	memset(chooser, 0, bytes);
	chooser->random = ivl_mix(config->seed + 0x9e3779b97f4a7c15 * (worker + 1ull)) | 1;
	chooser->mask = mask;
	chooser->bytes = bytes;
	chooser->node = own->node;
	chooser->favourite = NONE;
	chooser->ends = chooser->victims + topology->workers;
	if (config->victims == IVL_VICTIMS_DOMAINS ||
	    config->victims == IVL_VICTIMS_DOMAINS_THRESHOLD)
		for (unsigned int distance = 0; distance < levels; distance++)
			at += add_domain(chooser, at, topology, own, worker, config->cross_place,
					 distance);
	else
		add_domain(chooser, 0, topology, own, worker, config->cross_place, NONE);
	return chooser;
}

void ivl_chooser_destroy(struct ivl_chooser *chooser)
{
	if (chooser)
		ivl_node_free(chooser, chooser->bytes, chooser->node);
}

static bool asks_everybody(const struct ivl_chooser *chooser)
{
	return !chooser->mask || chooser->misses == IVL_PATIENCE;
}

/* A round counts as a miss until ivl_chooser_succeeded(). */
void ivl_chooser_begin(struct ivl_chooser *chooser)
{
	chooser->misses = chooser->misses % IVL_PATIENCE + 1;
	chooser->next = 0;
	chooser->domain = 0;
}

static unsigned int draw(struct ivl_chooser *chooser)
{
	unsigned int *victim = &chooser->victims[chooser->next];
	unsigned int end = chooser->ends[chooser->domain];

	if (chooser->favourite == chooser->domain)
		chooser->favourite = NONE;
	else
		swap(victim, victim + draw_below(chooser, end - chooser->next));
	if (++chooser->next == end)
		chooser->domain++;
	return *victim;
}

int ivl_chooser_next(struct ivl_chooser *chooser)
{
	while (chooser->domain < chooser->domains) {
		unsigned int victim = draw(chooser);

		if (asks_everybody(chooser) || ivl_stealable(chooser->mask, victim))
			return (int)victim;
	}
	return -1;
}

/* The favourite moves to the front of its domain; nearer domains still come first. */
void ivl_chooser_succeeded(struct ivl_chooser *chooser)
{
	unsigned int last = chooser->next - 1, domain = 0;

	while (chooser->ends[domain] <= last)
		domain++;
	swap(&chooser->victims[domain ? chooser->ends[domain - 1] : 0], &chooser->victims[last]);
	chooser->favourite = domain;
	chooser->misses = 0;
}
