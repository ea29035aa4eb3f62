// SPDX-License-Identifier: GPL-2.0
#include "fiber.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct ivl_stacks {
	pthread_mutex_t lock;
	struct ivl_fiber *free;
	unsigned int made, most;
	size_t page, bytes;		/* bytes: of a stack with its page that faults */
};

struct ivl_stacks *ivl_stacks_create(size_t stack_bytes, unsigned int most)
{
	struct ivl_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->page = (size_t)sysconf(_SC_PAGESIZE);
	stacks->bytes = (stack_bytes + stacks->page - 1) / stacks->page * stacks->page
		+ stacks->page;
	stacks->most = most;
	pthread_mutex_init(&stacks->lock, NULL);
	return stacks;
}

static char *memory_of(const struct ivl_stacks *stacks, struct ivl_fiber *fiber)
{
	return fiber->lowest - stacks->page;
}

void ivl_stacks_destroy(struct ivl_stacks *stacks)
{
	struct ivl_fiber *fiber = stacks->free;

	while (fiber) {
		struct ivl_fiber *next = fiber->next;

#ifdef IVL_TSAN
		__tsan_destroy_fiber(fiber->tsan);
#endif
		munmap(memory_of(stacks, fiber), stacks->bytes);
		fiber = next;
	}
	pthread_mutex_destroy(&stacks->lock);
	free(stacks);
}

static struct ivl_fiber *make(struct ivl_stacks *stacks)
{
	char *memory = mmap(NULL, stacks->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	struct ivl_fiber *fiber;
	uintptr_t top;

	if (memory == MAP_FAILED)
		return NULL;
	if (mprotect(memory, stacks->page, PROT_NONE)) {
		munmap(memory, stacks->bytes);
		return NULL;
	}
	/*
	 * Were all at the same place in their pages, a few sets of the cache
	 * would hold the tops of all stacks.
	 */
	top = (uintptr_t)memory + stacks->bytes - sizeof(*fiber);
	top -= (stacks->made % 16) * 192;
	fiber = (struct ivl_fiber *)(top & ~(uintptr_t)63);
	memset(fiber, 0, sizeof(*fiber));
	fiber->lowest = memory + stacks->page;
#ifdef IVL_ASAN
	fiber->highest = (char *)fiber;
#endif
#ifdef IVL_TSAN
	fiber->tsan = __tsan_create_fiber(0);
#endif
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
