// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stacks, each one mapping. Below each is a hole without a mapping: a guard page would be a second
 * mapping, and a process may have 65,530 (vm.max_map_count).
 *
 * Nothing else gets into a hole. The stacks are in the middle of the address space, terabytes away
 * from both ends, from which the kernel allocates. Each runtime has areas of its own there, taken
 * by mapping the first stack. If that fails, as under ThreadSanitizer, stacks have guard pages.
 */
#include "fiber.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef IVL_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(lowest, end) 0
#define VALGRIND_STACK_DEREGISTER(number)
#endif

#define AREA ((uintptr_t)IVL_STACK_AREA)
#define TRIES 64

struct ivl_stacks {
	pthread_mutex_t lock;
	struct ivl_fiber *free, *last;
	unsigned int made, most;
	size_t page, bytes;		/* bytes: of a stack */
	uintptr_t next;			/* next hole and stack; 0: anywhere, with guard pages */
};

/* The area halfway between address 0 and where the kernel would put a mapping. */
static uintptr_t middle(size_t page)
{
	void *end = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (end == MAP_FAILED)
		return 0;
	munmap(end, page);
	return (uintptr_t)end / 2 / AREA * AREA;
}

static unsigned long read_mappings(void)
{
	unsigned long most = 65530;
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");

	if (file) {
		if (fscanf(file, "%lu", &most) != 1)
			most = 65530;
		fclose(file);
	}
	return most;
}

/* Read once: it is the machine's, and the file is a tenth of a start. */
static unsigned long mappings(void)
{
	static _Atomic(unsigned long) known;
	unsigned long most = atomic_load_explicit(&known, memory_order_relaxed);

	if (!most) {
		most = read_mappings();
		atomic_store_explicit(&known, most, memory_order_relaxed);
	}
	return most;
}

/*
 * Half of the mappings and of the address space is left to the program and to stacks beyond `most`:
 * a deep recursion under work-first takes all that it may.
 */
static unsigned int limit(const struct ivl_stacks *stacks, unsigned int most)
{
	unsigned long possible = mappings() / (stacks->next ? 2 : 4);
	struct rlimit space;

	if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur / 2 / stacks->bytes < possible)
		possible = space.rlim_cur / 2 / stacks->bytes;
	return possible < most ? (unsigned int)possible : most;
}

struct ivl_stacks *ivl_stacks_create(size_t stack_bytes, unsigned int most)
{
	struct ivl_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->page = (size_t)sysconf(_SC_PAGESIZE);
	stacks->bytes = (stack_bytes + stacks->page - 1) / stacks->page * stacks->page;
	stacks->next = middle(stacks->page);
	stacks->most = limit(stacks, most);
	pthread_mutex_init(&stacks->lock, NULL);
	return stacks;
}

void ivl_stacks_destroy(struct ivl_stacks *stacks)
{
	struct ivl_fiber *fiber = stacks->free;

	while (fiber) {
		struct ivl_fiber *next = fiber->next;

#ifdef IVL_TSAN
		if (fiber->tsan)
			__tsan_destroy_fiber(fiber->tsan);
#endif
		VALGRIND_STACK_DEREGISTER(fiber->known);
		munmap(fiber->mapped, stacks->bytes + (size_t)(fiber->lowest - fiber->mapped));
		fiber = next;
	}
	pthread_mutex_destroy(&stacks->lock);
	free(stacks);
}

static char *map(uintptr_t hint, size_t bytes)
{
	char *memory = mmap((void *)hint, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* NULL: ENOMEM, or no area is left (`next` is 0). */
static char *map_above_hole(struct ivl_stacks *stacks)
{
	for (int tries = 0; stacks->next && tries < TRIES; tries++) {
		const uintptr_t stack = stacks->next + IVL_HOLE, end = stack + stacks->bytes;
		char *memory;

		if ((end - 1) / AREA == stacks->next / AREA) {
			memory = map(stack, stacks->bytes);
			if (!memory)
				return NULL;
			if ((uintptr_t)memory == stack) {
				stacks->next = end;
				return memory;
			}
			/* The area belongs to another runtime, or is not available. */
			munmap(memory, stacks->bytes);
		}
		stacks->next = (stacks->next / AREA + 1) * AREA;
	}
	stacks->next = 0;
	return NULL;
}

static char *map_above_guard(struct ivl_stacks *stacks)
{
	char *memory = map(0, stacks->page + stacks->bytes);

	if (memory && mprotect(memory, stacks->page, PROT_NONE)) {
		munmap(memory, stacks->page + stacks->bytes);
		return NULL;
	}
	return memory;
}

static struct ivl_fiber *make(struct ivl_stacks *stacks)
{
	char *memory = map_above_hole(stacks), *lowest = memory;
	struct ivl_fiber *fiber;
	uintptr_t top;

	if (!memory && !stacks->next) {
		memory = map_above_guard(stacks);
		lowest = memory + stacks->page;
	}
	if (!memory)
		return NULL;
	/* Spread the tops over cache sets. */
	top = (uintptr_t)lowest + stacks->bytes - sizeof(*fiber);
	top -= (stacks->made % 16) * 192;
	fiber = (struct ivl_fiber *)(top & ~(uintptr_t)63);
	memset(fiber, 0, sizeof(*fiber));
	fiber->mapped = memory;
	fiber->lowest = lowest;
	/* Or valgrind takes a switch for a growing or shrinking stack. */
	fiber->known = VALGRIND_STACK_REGISTER(lowest, fiber);
#ifdef IVL_ASAN
	fiber->highest = (char *)fiber;
#endif
	fiber->made = stacks->last;
	stacks->last = fiber;
	stacks->made++;
	return fiber;
}

struct ivl_fiber *ivl_stacks_get(struct ivl_stacks *stacks, unsigned int count)
{
	struct ivl_fiber *list = NULL;

	pthread_mutex_lock(&stacks->lock);
	while (count--) {
		struct ivl_fiber *fiber = stacks->free;

		if (fiber)
			stacks->free = fiber->next;
		else if (!list && stacks->made < stacks->most)
			fiber = make(stacks);
		if (!fiber)
			break;
		fiber->next = list;
		list = fiber;
	}
	pthread_mutex_unlock(&stacks->lock);
	return list;
}

bool ivl_stacks_exceed(struct ivl_stacks *stacks)
{
	pthread_mutex_lock(&stacks->lock);
	if (!stacks->free)
		stacks->free = make(stacks);
	const bool any = stacks->free;

	pthread_mutex_unlock(&stacks->lock);
	return any;
}

void ivl_stacks_put(struct ivl_stacks *stacks, struct ivl_fiber *list)
{
	struct ivl_fiber *last = list;

	while (last->next)
		last = last->next;
	pthread_mutex_lock(&stacks->lock);
	last->next = stacks->free;
	stacks->free = list;
	pthread_mutex_unlock(&stacks->lock);
}

unsigned int ivl_stacks_made(struct ivl_stacks *stacks)
{
	unsigned int made;

	pthread_mutex_lock(&stacks->lock);
	made = stacks->made;
	pthread_mutex_unlock(&stacks->lock);
	return made;
}

struct ivl_fiber *ivl_stacks_last(struct ivl_stacks *stacks)
{
	struct ivl_fiber *last;

	pthread_mutex_lock(&stacks->lock);
	last = stacks->last;
	pthread_mutex_unlock(&stacks->lock);
	return last;
}
