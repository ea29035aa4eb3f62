/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocations that fail. -Wl,--wrap= of the functions below redirects the library's calls, but not
 * hwloc's internal ones.
 */
#ifndef TEST_ALLOCATION_H
#define TEST_ALLOCATION_H

#include <hwloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/* How many allocations still succeed, of all threads; -1: all. */
static _Atomic int test_allocations_left = -1;

static inline bool test_allocation_fails(void)
{
	int left = test_allocations_left;

	while (left > 0 && !atomic_compare_exchange_weak(&test_allocations_left, &left, left - 1))
		;
	return !left;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
/* Meson enables large files, where mmap() is mmap64(). */
void *__real_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset);
hwloc_bitmap_t __real_hwloc_bitmap_alloc(void);
hwloc_bitmap_t __wrap_hwloc_bitmap_alloc(void);

void *__wrap_calloc(size_t count, size_t bytes)
{
	return test_allocation_fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
	return test_allocation_fails() ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return test_allocation_fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

void *__wrap_mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
	return test_allocation_fails() ? MAP_FAILED :
					 __real_mmap64(at, bytes, access, flags, file, offset);
}

hwloc_bitmap_t __wrap_hwloc_bitmap_alloc(void)
{
	return test_allocation_fails() ? NULL : __real_hwloc_bitmap_alloc();
}

#endif
