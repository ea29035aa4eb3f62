// SPDX-License-Identifier: GPL-2.0
#include "futexes.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define SYS_FUTEX 202	/* of the guest, an x86-64 */

/* A call that has not returned. */
struct call {
	uint64_t space, thread, address;
	bool pi;
};

struct futexes {
	enum futexes_program whose;
	uint64_t program;
	struct futex *all;	/* sorted */
	size_t n, room;
	struct call *calls;
	size_t n_calls, calls_room;
};

struct futexes *futexes_new(enum futexes_program program)
{
	struct futexes *f = calloc(1, sizeof(*f));

	if (f)
		f->whose = program;
	return f;
}

void futexes_free(struct futexes *f)
{
	free(f->all);
	free(f->calls);
	free(f);
}

void futexes_begin(struct futexes *f, uint64_t space)
{
	f->program = f->whose == FUTEXES_OWN ? space : 0;
	f->n = 0;
	f->n_calls = 0;
}

static bool before(const struct futex *a, uint64_t space, uint64_t address)
{
	return a->space != space ? a->space < space : a->address < address;
}

struct futex *futexes_at(struct futexes *f, uint64_t space, uint64_t address)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (before(&f->all[middle], space, address))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < f->n && f->all[low].space == space && f->all[low].address == address)
		return &f->all[low];
	if (!ARRAY_GROW(f->all, f->n, f->room))
		return NULL;
	memmove(&f->all[low + 1], &f->all[low], (f->n - low) * sizeof(*f->all));
	f->n++;
	f->all[low] = (struct futex){ .space = space, .address = address };
	return &f->all[low];
}

static struct call *call_of(const struct futexes *f, uint64_t space, uint64_t thread)
{
	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i].space == space && f->calls[i].thread == thread)
			return &f->calls[i];
	return NULL;
}

static int remember(struct futexes *f, struct call call)
{
	struct call *known = call_of(f, call.space, call.thread);

	/* A call that a signal interrupted is made again. */
	if (!known) {
		if (!ARRAY_GROW(f->calls, f->n_calls, f->calls_room))
			return -1;
		known = &f->calls[f->n_calls++];
	}
	*known = call;
	return 0;
}

/* The kernel takes the command, and how many to wake, for 32 bits. */
static unsigned int command_of(const uint64_t arguments[3])
{
	return (uint32_t)arguments[1] & FUTEX_CMD_MASK;
}

enum futex_operation futex_operation(uint64_t number, const uint64_t arguments[3])
{
	if (number != SYS_FUTEX)
		return FUTEX_DOES_ELSE;
	switch (command_of(arguments)) {
	case FUTEX_WAIT:
		return FUTEX_WAITS;
	case FUTEX_WAIT_BITSET:
		return FUTEX_WAITS_OTHERWISE;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return (uint32_t)arguments[2] == 1 ? FUTEX_RELEASES : FUTEX_DOES_ELSE;
	default:
		return FUTEX_DOES_ELSE;
	}
}

int futexes_call(struct futexes *f, uint64_t space, uint64_t thread, uint64_t number,
		 const uint64_t arguments[3])
{
	struct call call = { .space = space, .thread = thread, .address = arguments[0] };

	call.pi = number == SYS_FUTEX && command_of(arguments) == FUTEX_UNLOCK_PI;
	if (call.pi || futex_operation(number, arguments) == FUTEX_RELEASES)
		return remember(f, call);
	return 0;
}

bool futexes_expects_return(const struct futexes *f)
{
	return f->n_calls || !f->program;
}

int futexes_return(struct futexes *f, uint64_t space, uint64_t thread, uint64_t result)
{
	struct call *call = call_of(f, space, thread);
	struct futex *futex;

	/* Only a program that has just begun has no thread pointer. */
	if (!f->program && !thread)
		f->program = space;
	if (!call)
		return 0;
	futex = futexes_at(f, space, call->address);
	if (!futex)
		return -1;
	if (call->pi) {
		futex->pi_unlocks += !result;
	} else {
		futex->wakes++;
		futex->handoffs += result == 1;
	}
	*call = f->calls[--f->n_calls];
	return 0;
}

const struct futex *futexes_all(const struct futexes *f, size_t *n)
{
	*n = f->n;
	return f->all;
}

uint64_t futexes_program_space(const struct futexes *f)
{
	return f->program;
}
