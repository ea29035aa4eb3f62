// SPDX-License-Identifier: GPL-2.0
/* Load-to-use latency, and the overlap of loads. */
#include <error.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "calibrate.h"

/* A page for which all that a smaller cache holds needs one TLB entry. */
#define HUGE_PAGE ((size_t)2 << 20)
#define LOADS 30000
#define WARM_UP_ROUNDS 4
#define LARGEST_CACHE ((size_t)32 << 20)

/* Marsaglia's xorshift: the cycle is arbitrary, but the same every time. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void **line_at(const struct chase *chase, size_t i)
{
	return (void **)(chase->base + chase->order[i % chase->lines] * chase->line);
}

static void shuffle(struct chase *chase)
{
	uint64_t state = 88172645463325252;

	for (size_t i = 0; i < chase->lines; i++)
		chase->order[i] = (uint32_t)i;
	for (size_t i = chase->lines - 1; i; i--) {
		size_t j = next_random(&state) % (i + 1);
		uint32_t swap = chase->order[i];

		chase->order[i] = chase->order[j];
		chase->order[j] = swap;
	}
}

void chase_open(struct chase *chase, size_t size, size_t line)
{
	size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

	*chase = (struct chase){ .size = size, .line = line, .lines = size / line };
	chase->base = aligned_alloc(HUGE_PAGE, whole);
	chase->order = malloc(chase->lines * sizeof(*chase->order));
	if (!chase->base || !chase->order)
		error(1, ENOMEM, "cannot allocate %zu MB to measure caches and memory",
		      whole >> 20);
	/* Advice: where there are no huge pages, the TLB's misses are part of the latency. */
	madvise(chase->base, whole, MADV_HUGEPAGE);
	shuffle(chase);
	for (size_t i = 0; i < chase->lines; i++)
		*line_at(chase, i) = line_at(chase, i + 1);
}

void chase_close(struct chase *chase)
{
	free(chase->base);
	free(chase->order);
}

/* Inlined with a constant count, so that the chases are in registers as far as these go. */
static inline __attribute__((always_inline)) void follow(void **at[], unsigned int count,
							 size_t loads)
{
	for (size_t i = 0; i < loads; i++)
		for (unsigned int c = 0; c < count; c++)
			at[c] = *(void *volatile *)at[c];
}

static void follow_all(void **at[], unsigned int count, size_t loads)
{
	switch (count) {
	case 1:
		return follow(at, 1, loads);
	case 2:
		return follow(at, 2, loads);
	case 4:
		return follow(at, 4, loads);
	case 8:
		return follow(at, 8, loads);
	default:
		return follow(at, MAX_CHASES, loads);
	}
}

/*
 * Load what has been evicted meanwhile, fast: where other programs use the same cache, a line
 * that is not used again soon is lost again. For a set that no cache holds this changes nothing.
 */
static void warm_up(const struct chase *chase)
{
	void **at[MAX_CHASES];

	if (chase->size > LARGEST_CACHE)
		return;
	for (unsigned int c = 0; c < MAX_CHASES; c++)
		at[c] = line_at(chase, chase->lines / MAX_CHASES * c);
	follow_all(at, MAX_CHASES, WARM_UP_ROUNDS * chase->lines / MAX_CHASES);
}

double measure_chases(struct chase *chase, unsigned int count)
{
	size_t loads = LOADS / count;
	double ns[BATCHES];
	void **at[MAX_CHASES];

	for (unsigned int c = 0; c < count; c++)
		at[c] = line_at(chase, chase->next + chase->lines / count * c);
	chase->next = (chase->next + BATCHES * loads) % chase->lines;
	for (unsigned int i = 0; i < BATCHES; i++) {
		uint64_t begun;

		warm_up(chase);
		begun = now_ns();
		follow_all(at, count, loads);
		ns[i] = (double)(now_ns() - begun) / (double)(loads * count);
	}
	return least(ns);
}
