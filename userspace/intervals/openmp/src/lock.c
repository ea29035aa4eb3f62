// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Locks, critical sections and the lock of atomics. Values of the word: 0 free, 1 held, 2 held with
 * possible waiters (Drepper, "Futexes Are Tricky", second mutex). Tasks hold them and wait for
 * them, exclusively (attach.h).
 */
#include <errno.h>
#include <omp.h>
#include <string.h>

#include "gomp.h"
#include "park.h"
#include "task.h"

enum { FREE, HELD, CONTENDED };

static bool is_contended(const void *word, unsigned long arg)
{
	(void)arg;
	return atomic_load_explicit((const atomic_int *)word, memory_order_relaxed) == CONTENDED;
}

static bool try(atomic_int *word)
{
	int free = FREE;

	/* Acquire, from unlock(). */
	return atomic_compare_exchange_strong_explicit(word, &free, HELD, memory_order_acquire,
						       memory_order_relaxed);
}

static void lock(atomic_int *word)
{
	if (try(word))
		return;
	gomp_spin_while(atomic_load_explicit(word, memory_order_relaxed) != FREE);
	while (atomic_exchange_explicit(word, CONTENDED, memory_order_acquire) != FREE)
		gomp_park_for_lock(word, is_contended, 0);
}

static void unlock(atomic_int *word)
{
	if (atomic_exchange_explicit(word, FREE, memory_order_release) == CONTENDED)
		gomp_unpark_one(word);
}

/* lock() and unlock() around code of the program. */
static void begin_section(atomic_int *word)
{
	lock(word);
	gomp_note_locked();
}

static void end_section(atomic_int *word)
{
	gomp_note_unlocked();
	unlock(word);
}

static bool try_section(atomic_int *word)
{
	const bool locked = try(word);

	if (locked)
		gomp_note_locked();
	return locked;
}

static atomic_int critical, atomics;

GOMP_PUBLIC void GOMP_critical_start(void)
{
	begin_section(&critical);
}

GOMP_PUBLIC void GOMP_critical_end(void)
{
	end_section(&critical);
}

/* The ABI passes a pointer per named section; its first four bytes are the lock. */
GOMP_PUBLIC void GOMP_critical_name_start(void **name)
{
	begin_section((atomic_int *)name);
}

GOMP_PUBLIC void GOMP_critical_name_end(void **name)
{
	end_section((atomic_int *)name);
}

GOMP_PUBLIC void GOMP_atomic_start(void)
{
	lock(&atomics);
}

GOMP_PUBLIC void GOMP_atomic_end(void)
{
	unlock(&atomics);
}

/* omp_nest_lock_t: owned by a task. */
struct nested {
	atomic_int word;
	int count;
	_Atomic(const struct task *) owner;
};

static_assert(sizeof(struct nested) == sizeof(omp_nest_lock_t), "as in omp.h");
static_assert(sizeof(atomic_int) == sizeof(omp_lock_t), "as in omp.h");

GOMP_PUBLIC void omp_init_lock(omp_lock_t *mutex)
{
	memset(mutex, 0, sizeof(*mutex));
}

GOMP_PUBLIC void omp_destroy_lock(omp_lock_t *mutex)
{
	(void)mutex;
}

GOMP_PUBLIC void omp_set_lock(omp_lock_t *mutex)
{
	begin_section((atomic_int *)mutex);
}

GOMP_PUBLIC void omp_unset_lock(omp_lock_t *mutex)
{
	end_section((atomic_int *)mutex);
}

GOMP_PUBLIC int omp_test_lock(omp_lock_t *mutex)
{
	return try_section((atomic_int *)mutex);
}

GOMP_PUBLIC void omp_init_nest_lock(omp_nest_lock_t *mutex)
{
	memset(mutex, 0, sizeof(*mutex));
}

GOMP_PUBLIC void omp_destroy_nest_lock(omp_nest_lock_t *mutex)
{
	(void)mutex;
}

/* Relaxed: only the owner finds itself. */
static bool is_ours(struct nested *nested)
{
	return atomic_load_explicit(&nested->owner, memory_order_relaxed) == gomp_member()->task;
}

static int begin(struct nested *nested)
{
	atomic_store_explicit(&nested->owner, gomp_task_keep(gomp_member()), memory_order_relaxed);
	return ++nested->count;
}

GOMP_PUBLIC void omp_set_nest_lock(omp_nest_lock_t *mutex)
{
	struct nested *nested = (struct nested *)mutex;

	if (!is_ours(nested))
		begin_section(&nested->word);
	begin(nested);
}

GOMP_PUBLIC void omp_unset_nest_lock(omp_nest_lock_t *mutex)
{
	struct nested *nested = (struct nested *)mutex;

	if (--nested->count)
		return;
	atomic_store_explicit(&nested->owner, NULL, memory_order_relaxed);
	end_section(&nested->word);
}

GOMP_PUBLIC int omp_test_nest_lock(omp_nest_lock_t *mutex)
{
	struct nested *nested = (struct nested *)mutex;

	return is_ours(nested) || try_section(&nested->word) ? begin(nested) : 0;
}
