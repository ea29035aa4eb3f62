// SPDX-License-Identifier: LGPL-2.1-or-later
#include "park.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include <clock.h>

#include "gomp.h"

#define BUCKETS 256u
#define LOCK_SPINS 100
#define YIELDS 8
/* Shorter than the kernel's time slices, longer than the turns of a team that waits often. */
#define YIELD_SLICE_NS 200000
/* Waits that begin with sleep after a yield that took a time slice, which costs some hundred. */
#define YIELD_PAUSE 1024

/* In the waiter's frame. */
struct parked {
	struct parked *next;
	const void *word;
	struct ivl_waiter *waiter;
};

struct bucket {
	_Alignas(GOMP_LINE) atomic_flag locked;
	_Atomic(struct parked *) first;	/* changed under the lock */
};

struct parking {
	struct parked parked;
	bool (*still)(const void *word, unsigned long arg);
	unsigned long arg;
};

atomic_uint gomp_threads;
static struct bucket buckets[BUCKETS];

static struct bucket *bucket_of(const void *word)
{
	return &buckets[((uintptr_t)word >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

static_assert(BUCKETS == 1u << 8, "the upper 8 bits of the product");

/* Held for a few instructions only. */
static void lock(struct bucket *bucket)
{
	for (int spins = 0; atomic_flag_test_and_set_explicit(&bucket->locked,
							       memory_order_acquire); spins++) {
		if (spins % LOCK_SPINS == LOCK_SPINS - 1)
			sched_yield();
		__builtin_ia32_pause();
	}
}

static void unlock(struct bucket *bucket)
{
	atomic_flag_clear_explicit(&bucket->locked, memory_order_release);
}

/* The thread's next waits that begin with sleep. */
static __thread unsigned int sleeps_at_once __attribute__((tls_model("initial-exec")));

unsigned int gomp_yields(void)
{
	if (!sleeps_at_once)
		return YIELDS;
	sleeps_at_once--;
	return 0;
}

unsigned int gomp_yield(unsigned int left)
{
	const uint64_t before = ivl_clock_ns(CLOCK_MONOTONIC);

	sched_yield();
	if (ivl_clock_ns(CLOCK_MONOTONIC) - before < YIELD_SLICE_NS)
		return left - 1;
	sleeps_at_once = YIELD_PAUSE;
	return 0;
}

static bool publish(void *arg, struct ivl_waiter *waiter)
{
	struct parking *parking = arg;
	struct parked *parked = &parking->parked, *first;
	struct bucket *bucket = bucket_of(parked->word);
	bool waits;

	parked->waiter = waiter;
	lock(bucket);
	first = atomic_load_explicit(&bucket->first, memory_order_relaxed);
	parked->next = first;
	atomic_store_explicit(&bucket->first, parked, memory_order_relaxed);
	/* Pairs with the fence in unpark(). */
	atomic_thread_fence(memory_order_seq_cst);
	waits = parking->still(parked->word, parking->arg);
	if (!waits)
		atomic_store_explicit(&bucket->first, first, memory_order_relaxed);
	unlock(bucket);
	return waits;
}

static void park(struct parking parking, bool for_lock)
{
	struct gomp_waits waits = gomp_waits_begin(for_lock);

	ivl_wait(publish, &parking);
	gomp_waits_end(waits);
}

void gomp_park(const void *word, bool (*still)(const void *word, unsigned long arg),
	       unsigned long arg)
{
	park((struct parking){ { .word = word }, still, arg }, false);
}

void gomp_park_for_lock(const void *word, bool (*still)(const void *word, unsigned long arg),
			unsigned long arg)
{
	park((struct parking){ { .word = word }, still, arg }, true);
}

/* The list has the newest waiter first. */
static struct parked *take_oldest(struct bucket *bucket, const void *word)
{
	struct parked *found = NULL, *newer = NULL, *before = NULL;

	for (struct parked *parked = atomic_load_explicit(&bucket->first, memory_order_relaxed);
	     parked; before = parked, parked = parked->next)
		if (parked->word == word) {
			found = parked;
			newer = before;
		}
	if (found && newer)
		newer->next = found->next;
	else if (found)
		atomic_store_explicit(&bucket->first, found->next, memory_order_relaxed);
	if (found)
		found->next = NULL;
	return found;
}

static struct parked *take_all(struct bucket *bucket, const void *word)
{
	struct parked *parked = atomic_load_explicit(&bucket->first, memory_order_relaxed);
	struct parked *found = NULL, *others = NULL, **end = &others;

	while (parked) {
		struct parked *next = parked->next;

		if (parked->word == word) {
			parked->next = found;
			found = parked;
		} else {
			*end = parked;
			end = &parked->next;
		}
		parked = next;
	}
	*end = NULL;
	atomic_store_explicit(&bucket->first, others, memory_order_relaxed);
	return found;
}

static void unpark(const void *word,
		   struct parked *(*take)(struct bucket *bucket, const void *word))
{
	struct bucket *bucket = bucket_of(word);
	struct parked *parked;

	/* Pairs with the fence in publish(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&bucket->first, memory_order_relaxed))
		return;
	lock(bucket);
	parked = take(bucket, word);
	unlock(bucket);
	while (parked) {
		struct parked *next = parked->next;

		/* Its frame may be gone at once. */
		ivl_wake(parked->waiter);
		parked = next;
	}
}

void gomp_unpark_one(const void *word)
{
	unpark(word, take_oldest);
}

void gomp_unpark_all(const void *word)
{
	unpark(word, take_all);
}
