// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Allocators (OpenMP 5.0, 2.11). A header before each allocation tells where its block begins. All
 * memory spaces are the same memory. Of the traits, alignment, pool size and fallback have an
 * effect.
 */
#include <omp.h>
#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "alloc.h"
#include "env.h"
#include "gomp.h"

struct allocator {
	size_t alignment;
	size_t pool;			/* bytes; SIZE_MAX: unlimited */
	_Atomic(size_t) used;
	omp_alloctrait_value_t fallback;
	omp_allocator_handle_t next;	/* for omp_atv_allocator_fb */
};

struct head {
	void *block;
	size_t bytes;			/* requested by the program */
	omp_allocator_handle_t allocator;
};

/* NULL: a predefined allocator. */
static struct allocator *made(omp_allocator_handle_t handle)
{
	return handle > omp_thread_mem_alloc ? (struct allocator *)(uintptr_t)handle : NULL;
}

static bool set_trait(struct allocator *allocator, const omp_alloctrait_t *trait)
{
	switch (trait->key) {
	case omp_atk_alignment:
		allocator->alignment = trait->value;
		return trait->value && !(trait->value & (trait->value - 1));
	case omp_atk_pool_size:
		allocator->pool = trait->value;
		return true;
	case omp_atk_fallback:
		allocator->fallback = (omp_alloctrait_value_t)trait->value;
		return trait->value == omp_atv_default_mem_fb ||
		       trait->value == omp_atv_null_fb || trait->value == omp_atv_abort_fb ||
		       trait->value == omp_atv_allocator_fb;
	case omp_atk_fb_data:
		allocator->next = trait->value;
		return true;
	case omp_atk_sync_hint:
	case omp_atk_access:
	case omp_atk_pinned:
	case omp_atk_partition:
		return true;
	default:
		return false;
	}
}

GOMP_PUBLIC omp_allocator_handle_t omp_init_allocator(omp_memspace_handle_t space, int count,
						      const omp_alloctrait_t traits[])
{
	struct allocator wanted = { .alignment = 1, .pool = SIZE_MAX,
				    .fallback = omp_atv_default_mem_fb }, *allocator;

	if (space > omp_low_lat_mem_space)
		return omp_null_allocator;
	for (int i = 0; i < count; i++)
		if (traits[i].value != (omp_uintptr_t)omp_atv_default &&
		    !set_trait(&wanted, &traits[i]))
			return omp_null_allocator;
	allocator = malloc(sizeof(*allocator));
	if (!allocator)
		return omp_null_allocator;
	*allocator = wanted;
	return (omp_allocator_handle_t)(uintptr_t)allocator;
}

GOMP_PUBLIC void omp_destroy_allocator(omp_allocator_handle_t handle)
{
	free(made(handle));
}

GOMP_PUBLIC void omp_set_default_allocator(omp_allocator_handle_t handle)
{
	gomp_icv_own(gomp_member()->task)->allocator =
		handle == omp_null_allocator ? omp_default_mem_alloc : handle;
}

GOMP_PUBLIC omp_allocator_handle_t omp_get_default_allocator(void)
{
	return (omp_allocator_handle_t)gomp_member()->task->icv->allocator;
}

/* False: the pool is used up. */
static bool reserve(struct allocator *allocator, size_t bytes)
{
	size_t used = atomic_load_explicit(&allocator->used, memory_order_relaxed);

	if (allocator->pool == SIZE_MAX)
		return true;
	do {
		if (bytes > allocator->pool - used)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&allocator->used, &used, used + bytes,
							memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

static void give_back(struct allocator *allocator, size_t bytes)
{
	if (allocator && allocator->pool != SIZE_MAX)
		atomic_fetch_sub_explicit(&allocator->used, bytes, memory_order_relaxed);
}

static void *try(omp_allocator_handle_t handle, size_t alignment, size_t bytes, bool clear)
{
	struct allocator *allocator = made(handle);
	struct head *head;
	size_t all;
	char *block;

	if (allocator && allocator->alignment > alignment)
		alignment = allocator->alignment;
	if (alignment < _Alignof(max_align_t))
		alignment = _Alignof(max_align_t);
	if (__builtin_add_overflow(bytes, alignment + sizeof(*head), &all) ||
	    (allocator && !reserve(allocator, bytes)))
		return NULL;
	block = clear ? calloc(1, all) : malloc(all);
	if (!block) {
		give_back(allocator, bytes);
		return NULL;
	}
	head = (struct head *)(((uintptr_t)block + sizeof(*head) + alignment - 1) &
			       ~(uintptr_t)(alignment - 1));
	head[-1] = (struct head){ block, bytes, handle };
	return head;
}

/* Applies the allocator's fallback. */
static void *get(omp_allocator_handle_t handle, size_t alignment, size_t bytes, bool clear)
{
	if (!bytes)
		return NULL;
	if (handle == omp_null_allocator)
		handle = omp_get_default_allocator();
	for (;;) {
		struct allocator *allocator = made(handle);
		void *memory = try(handle, alignment, bytes, clear);

		if (memory || !allocator || allocator->fallback == omp_atv_null_fb)
			return memory;
		if (allocator->fallback == omp_atv_abort_fb)
			gomp_fatal("omp_alloc: no memory for %zu bytes, and the allocator's "
				   "fallback is to abort", bytes);
		handle = allocator->fallback == omp_atv_allocator_fb ? allocator->next :
								       omp_default_mem_alloc;
	}
}

GOMP_PUBLIC void *omp_aligned_alloc(size_t alignment, size_t bytes, omp_allocator_handle_t handle)
{
	return get(handle, alignment, bytes, false);
}

GOMP_PUBLIC void *omp_alloc(size_t bytes, omp_allocator_handle_t handle)
{
	return get(handle, 1, bytes, false);
}

GOMP_PUBLIC void *omp_aligned_calloc(size_t alignment, size_t count, size_t bytes,
				     omp_allocator_handle_t handle)
{
	size_t all;

	return __builtin_mul_overflow(count, bytes, &all) ? NULL :
							    get(handle, alignment, all, true);
}

GOMP_PUBLIC void *omp_calloc(size_t count, size_t bytes, omp_allocator_handle_t handle)
{
	return omp_aligned_calloc(1, count, bytes, handle);
}

GOMP_PUBLIC void omp_free(void *memory, omp_allocator_handle_t handle)
{
	struct head *head = memory;

	(void)handle;
	if (!memory)
		return;
	give_back(made(head[-1].allocator), head[-1].bytes);
	free(head[-1].block);
}

GOMP_PUBLIC void *omp_realloc(void *memory, size_t bytes, omp_allocator_handle_t handle,
			      omp_allocator_handle_t free_handle)
{
	struct head *head = memory;
	struct allocator *pool;
	size_t bytes_before;
	void *other;

	if (!memory)
		return omp_alloc(bytes, handle);
	if (!bytes) {
		omp_free(memory, free_handle);
		return NULL;
	}
	bytes_before = head[-1].bytes;
	if (handle == omp_null_allocator)
		handle = head[-1].allocator;
	/* Within one pool only the difference counts. */
	pool = handle == head[-1].allocator ? made(handle) : NULL;
	give_back(pool, bytes_before);
	other = omp_alloc(bytes, handle);
	if (pool)
		atomic_fetch_add_explicit(&pool->used, bytes_before, memory_order_relaxed);
	if (!other)
		return NULL;
	memcpy(other, memory, bytes < bytes_before ? bytes : bytes_before);
	omp_free(memory, free_handle);
	return other;
}

GOMP_PUBLIC void *GOMP_alloc(size_t alignment, size_t bytes, uintptr_t handle)
{
	void *memory = get((omp_allocator_handle_t)handle, alignment, bytes, false);

	if (!memory && bytes)
		gomp_fatal("GOMP_alloc: no memory for %zu bytes", bytes);
	return memory;
}

GOMP_PUBLIC void GOMP_free(void *memory, uintptr_t handle)
{
	omp_free(memory, (omp_allocator_handle_t)handle);
}

/*
 * Addresses of Fortran's allocatable variables that an allocator owns: the compiler asks before it
 * frees one.
 */
static void *theirs;			/* a tree (tsearch()) */
static pthread_mutex_t theirs_lock = PTHREAD_MUTEX_INITIALIZER;

static int order_of(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

GOMP_PUBLIC void GOMP_add_alloc(void *memory)
{
	void *added;

	pthread_mutex_lock(&theirs_lock);
	added = tsearch(memory, &theirs, order_of);
	pthread_mutex_unlock(&theirs_lock);
	if (!added)
		gomp_fatal("out of memory for an allocated variable's descriptor");
}

/* The variable is about to be freed: forget it. */
GOMP_PUBLIC bool GOMP_is_alloc(void *memory)
{
	bool is;

	pthread_mutex_lock(&theirs_lock);
	is = tdelete(memory, &theirs, order_of);
	pthread_mutex_unlock(&theirs_lock);
	return is;
}

static const struct {
	const char *word;
	omp_allocator_handle_t handle;
} known[] = {
	{ "omp_default_mem_alloc", omp_default_mem_alloc },
	{ "omp_large_cap_mem_alloc", omp_large_cap_mem_alloc },
	{ "omp_const_mem_alloc", omp_const_mem_alloc },
	{ "omp_high_bw_mem_alloc", omp_high_bw_mem_alloc },
	{ "omp_low_lat_mem_alloc", omp_low_lat_mem_alloc },
	{ "omp_cgroup_mem_alloc", omp_cgroup_mem_alloc },
	{ "omp_pteam_mem_alloc", omp_pteam_mem_alloc },
	{ "omp_thread_mem_alloc", omp_thread_mem_alloc },
};

#define KNOWN (sizeof(known) / sizeof(*known))

uintptr_t gomp_allocator_parse(const char *word)
{
	for (size_t i = 0; word && i < KNOWN; i++)
		if (!strcasecmp(word, known[i].word))
			return known[i].handle;
	if (word)
		gomp_complain("OMP_ALLOCATOR", word,
			      "is not a predefined allocator; ignored");
	return omp_default_mem_alloc;
}

const char *gomp_allocator_name(uintptr_t handle)
{
	size_t i = 0;

	while (i < KNOWN - 1 && known[i].handle != handle)
		i++;
	return known[i].word;
}
