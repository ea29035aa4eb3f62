// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <pthread.h>

#include "common/layout.h"
#include "common/think.h"
#include "fifo.h"

/* Elements of a FIFO: few enough that both sides meet its bound. */
#define CAPACITY 16

/* The first line of an element; its other lines hold one word, `value`, each. */
struct item {
	uint64_t value;
	uint64_t ticket;	/* how many items were produced into this FIFO before */
};

/* The state that the lock protects, besides the items. */
struct ring {
	uint64_t produced;
	uint64_t consumed;
	uint64_t disordered;	/* items consumed out of turn */
	uint64_t torn;		/* items whose lines did not belong together */
};

static struct padded locks;
static struct padded not_full;
static struct padded not_empty;
static struct padded rings;
static struct padded items;	/* CAPACITY for each FIFO */
static struct padded digests;	/* one for each thread: a sum over the values it handled */

static struct item *item_at(unsigned int fifo, uint64_t ticket)
{
	return padded_at(&items, fifo * CAPACITY + ticket % CAPACITY);
}

void fifo_setup(const struct options *opt)
{
	locks = padded_mutexes(opt->locks, opt->line);
	not_full = padded_alloc(opt->locks, sizeof(pthread_cond_t), opt->line);
	not_empty = padded_alloc(opt->locks, sizeof(pthread_cond_t), opt->line);
	rings = padded_alloc(opt->locks, sizeof(struct ring), opt->line);
	items = padded_alloc((size_t)opt->locks * CAPACITY, (size_t)opt->cs_lines * opt->line,
			     opt->line);
	digests = padded_alloc(opt->threads, sizeof(uint64_t), opt->line);
	for (unsigned int i = 0; i < opt->locks; i++) {
		pthread_cond_init(padded_at(&not_full, i), NULL);
		pthread_cond_init(padded_at(&not_empty, i), NULL);
	}
}

static void put(unsigned int fifo, uint64_t value, const struct options *opt)
{
	struct ring *ring = padded_at(&rings, fifo);
	struct item *item = item_at(fifo, ring->produced);

	for (unsigned int i = 0; i < opt->cs_lines; i++)
		*(uint64_t *)((char *)item + (size_t)i * opt->line) = value;
	item->ticket = ring->produced++;
}

static uint64_t get(unsigned int fifo, const struct options *opt)
{
	struct ring *ring = padded_at(&rings, fifo);
	const struct item *item = item_at(fifo, ring->consumed);

	ring->torn += counter_mismatch(item, opt->cs_lines, opt->line, item->value) < opt->cs_lines;
	ring->disordered += item->ticket != ring->consumed;
	ring->consumed++;
	return item->value;
}

static uint64_t produce(unsigned int fifo, const struct worker *w)
{
	struct ring *ring = padded_at(&rings, fifo);
	pthread_mutex_t *lock = padded_at(&locks, fifo);
	uint64_t value = mix64((uint64_t)w->id << 32 | w->done);	/* unique in the run */

	pthread_mutex_lock(lock);
	while (ring->produced - ring->consumed == CAPACITY)
		pthread_cond_wait(padded_at(&not_full, fifo), lock);
	put(fifo, value, w->opt);
	pthread_mutex_unlock(lock);
	pthread_cond_signal(padded_at(&not_empty, fifo));
	return value;
}

static uint64_t consume(unsigned int fifo, const struct worker *w)
{
	struct ring *ring = padded_at(&rings, fifo);
	pthread_mutex_t *lock = padded_at(&locks, fifo);
	uint64_t value;

	pthread_mutex_lock(lock);
	while (ring->produced == ring->consumed)
		pthread_cond_wait(padded_at(&not_empty, fifo), lock);
	value = get(fifo, w->opt);
	pthread_mutex_unlock(lock);
	pthread_cond_signal(padded_at(&not_full, fifo));
	return value;
}

void fifo_iterate(struct worker *w)
{
	unsigned int fifo = w->id / 2 % w->opt->locks;
	uint64_t *digest = padded_at(&digests, w->id);

	*digest += w->id % 2 ? consume(fifo, w) : produce(fifo, w);
	think(w);
}

/*
 * Items left the FIFO in the order of their production, and the values consumed
 * are those produced: a value lost, doubled or invented changes the sum of
 * well-mixed 64-bit values.
 */
static void check_fifo(const struct options *opt, unsigned int fifo, struct verdict *verdict)
{
	const struct ring *ring = padded_at(&rings, fifo);
	uint64_t expected = 0, difference = 0;

	for (unsigned int id = 0; id < opt->threads; id += 2) {
		if (id / 2 % opt->locks != fifo)
			continue;
		expected += thread_iterations(opt, id);
		difference += *(uint64_t *)padded_at(&digests, id) -
			      *(uint64_t *)padded_at(&digests, id + 1);
	}
	if (ring->disordered)
		verdict_fail(verdict, "FIFO %u: %" PRIu64 " items left it out of order", fifo,
			     ring->disordered);
	if (ring->torn)
		verdict_fail(verdict, "FIFO %u: the lines of %" PRIu64 " items did not belong together",
			     fifo, ring->torn);
	if (ring->produced != expected || ring->consumed != expected)
		verdict_fail(verdict, "FIFO %u: %" PRIu64 " items went in and %" PRIu64
			     " came out, not %" PRIu64, fifo, ring->produced, ring->consumed, expected);
	if (difference)
		verdict_fail(verdict, "FIFO %u: the items consumed are not those produced", fifo);
}

void fifo_check(const struct options *opt, struct verdict *verdict)
{
	for (unsigned int i = 0; i < opt->locks; i++)
		check_fifo(opt, i, verdict);
}
