// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Locks of OpenMP 2.5, for programs linked before GCC 4.4 (version OMP_1.0). Threads own them, not
 * tasks. A simple lock has four bytes, as today's; a nested one a word and a count. The word is 0
 * if free, else the thread's number with WAITED_FOR as lowest bit.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <omp.h>

#include "gomp.h"
#include "park.h"

/* Exported as NAME@OMP_1.0, and as Fortran's NAME_, whose variable contains either lock. */
#define OLD(name) \
	GOMP_PUBLIC __attribute__((symver(#name "@OMP_1.0"), symver(#name "_@OMP_1.0")))

#define WAITED_FOR 1u

struct nested_25 {
	atomic_uint word;
	int count;
};

#define SIMPLE(name) \
	OLD(omp_##name) void gomp_##name##_25(omp_lock_t *mutex) \
	{ \
		omp_##name(mutex); \
	}

SIMPLE(init_lock)
SIMPLE(destroy_lock)
SIMPLE(set_lock)
SIMPLE(unset_lock)

OLD(omp_test_lock) int gomp_test_lock_25(omp_lock_t *mutex)
{
	return omp_test_lock(mutex);
}

static unsigned int caller(void)
{
	return (unsigned int)syscall(SYS_gettid) * 2;
}

static bool is(const void *word, unsigned long value)
{
	return atomic_load_explicit((const atomic_uint *)word, memory_order_relaxed) == value;
}

static bool holds(const struct nested_25 *nested, unsigned int self)
{
	/* Relaxed: only the owner finds itself. */
	return (atomic_load_explicit(&nested->word, memory_order_relaxed) & ~WAITED_FOR) == self;
}

/* Acquire, from gomp_unset_nest_lock_25(). */
static bool try(struct nested_25 *nested, unsigned int word)
{
	unsigned int free = 0;

	return atomic_compare_exchange_strong_explicit(&nested->word, &free, word,
						       memory_order_acquire, memory_order_relaxed);
}

/* A thread that has waited assumes further waiters. */
static void lock(struct nested_25 *nested, unsigned int self)
{
	if (try(nested, self))
		return;
	gomp_spin_while(!is(&nested->word, 0));
	while (!try(nested, self | WAITED_FOR)) {
		unsigned int word = atomic_load_explicit(&nested->word, memory_order_relaxed);

		if (word && ((word & WAITED_FOR) ||
			     atomic_compare_exchange_strong_explicit(
				     &nested->word, &word, word | WAITED_FOR,
				     memory_order_relaxed, memory_order_relaxed)))
			gomp_park_for_lock(&nested->word, is, word | WAITED_FOR);
	}
}

OLD(omp_init_nest_lock) void gomp_init_nest_lock_25(struct nested_25 *nested)
{
	atomic_store_explicit(&nested->word, 0, memory_order_relaxed);
	nested->count = 0;
}

OLD(omp_destroy_nest_lock) void gomp_destroy_nest_lock_25(struct nested_25 *nested)
{
	(void)nested;
}

OLD(omp_set_nest_lock) void gomp_set_nest_lock_25(struct nested_25 *nested)
{
	const unsigned int self = caller();

	if (!holds(nested, self)) {
		lock(nested, self);
		gomp_note_locked();
	}
	nested->count++;
}

OLD(omp_unset_nest_lock) void gomp_unset_nest_lock_25(struct nested_25 *nested)
{
	if (--nested->count)
		return;
	gomp_note_unlocked();
	if (atomic_exchange_explicit(&nested->word, 0, memory_order_release) & WAITED_FOR)
		gomp_unpark_one(&nested->word);
}

OLD(omp_test_nest_lock) int gomp_test_nest_lock_25(struct nested_25 *nested)
{
	const unsigned int self = caller();

	if (!holds(nested, self)) {
		if (!try(nested, self))
			return 0;
		gomp_note_locked();
	}
	return ++nested->count;
}
