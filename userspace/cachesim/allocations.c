// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE	/* tdestroy */
#include "allocations.h"

#include <search.h>
#include <stdlib.h>

#include "array.h"

/* From begin to before end. */
struct piece {
	uint64_t space, begin, end;
	struct allocation_site site;
};

struct allocations {
	void *pieces;		/* a tree: no two of them overlap */
	struct allocation_call *calls;	/* that have not returned */
	size_t n_calls, calls_room;
};

struct allocations *allocations_new(void)
{
	return calloc(1, sizeof(struct allocations));
}

void allocations_free(struct allocations *a)
{
	tdestroy(a->pieces, free);
	free(a->calls);
	free(a);
}

/* What overlaps is equal, so that a piece finds what it lies in or covers. */
static int compare(const void *one, const void *other)
{
	const struct piece *a = one, *b = other;

	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	return a->end <= b->begin ? -1 : a->begin >= b->end;
}

static struct piece *overlapping(const struct allocations *a, const struct piece *with)
{
	struct piece **found = tfind(with, &a->pieces, compare);

	return found ? *found : NULL;
}

static void forget(struct allocations *a, struct piece range)
{
	struct piece *known;

	while ((known = overlapping(a, &range))) {
		tdelete(known, &a->pieces, compare);
		free(known);
	}
}

void allocations_forget(struct allocations *a, uint64_t space)
{
	forget(a, (struct piece){ .space = space, .end = UINT64_MAX });
	for (size_t i = a->n_calls; i-- > 0;)
		if (a->calls[i].space == space)
			a->calls[i] = a->calls[--a->n_calls];
}

/* A thread that makes a call here has left its calls from here or deeper in the stack. */
static void leave(struct allocations *a, const struct allocation_call *by)
{
	for (size_t i = a->n_calls; i-- > 0;)
		if (a->calls[i].space == by->space && a->calls[i].thread == by->thread &&
		    a->calls[i].site.sp <= by->site.sp)
			a->calls[i] = a->calls[--a->n_calls];
}

int allocations_call(struct allocations *a, const struct allocation_call *call)
{
	uint64_t old = call->arguments[0];

	leave(a, call);
	/* At once: when the call returns, another thread may have got that memory. */
	if ((call->function == ALLOCATOR_FREE || call->function == ALLOCATOR_REALLOC) && old)
		forget(a, (struct piece){ .space = call->space, .begin = old, .end = old + 1 });
	if (call->function == ALLOCATOR_FREE || !call->site.n)
		return 0;
	if (!ARRAY_GROW(a->calls, a->n_calls, a->calls_room))
		return -1;
	a->calls[a->n_calls++] = *call;
	return 0;
}

bool allocations_expects_return(const struct allocations *a, uint64_t pc)
{
	for (size_t i = 0; i < a->n_calls; i++)
		if (a->calls[i].site.stack[0] == pc)
			return true;
	return false;
}

const struct allocation_call *allocations_over(const struct allocations *a, uint64_t space,
					       uint64_t thread, uint64_t pc, uint64_t sp)
{
	for (size_t i = 0; i < a->n_calls; i++) {
		const struct allocation_call *one = &a->calls[i];

		if (one->space == space && one->thread == thread && one->site.stack[0] == pc &&
		    one->site.sp + sizeof(one->site.stack[0]) == sp)
			return one;
	}
	return NULL;
}

static uint64_t size_of(const struct allocation_call *call)
{
	switch (call->function) {
	case ALLOCATOR_CALLOC:
		return call->arguments[0] * call->arguments[1];
	case ALLOCATOR_REALLOC:
	case ALLOCATOR_ALIGNED_ALLOC:
		return call->arguments[1];
	case ALLOCATOR_POSIX_MEMALIGN:
		return call->arguments[2];
	default:
		return call->arguments[0];
	}
}

static int keep(struct allocations *a, const struct allocation_call *call, uint64_t address)
{
	struct piece *new = malloc(sizeof(*new));
	uint64_t size = size_of(call);

	if (!new)
		return -1;
	*new = (struct piece){ call->space, address, address + (size ? size : 1), call->site };
	forget(a, *new);
	if (tsearch(new, &a->pieces, compare))
		return 0;
	free(new);
	return -1;
}

int allocations_return(struct allocations *a, const struct allocation_call *over, uint64_t address)
{
	const struct allocation_call call = *over;

	a->calls[over - a->calls] = a->calls[a->n_calls - 1];
	a->n_calls--;
	return address ? keep(a, &call, address) : 0;
}

const struct allocation_site *allocations_at(const struct allocations *a, uint64_t space,
					     uint64_t address)
{
	const struct piece *found = overlapping(a, &(struct piece){ space, address, address + 1, { 0 } });

	return found ? &found->site : NULL;
}
