// SPDX-License-Identifier: GPL-2.0
#include "locks.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "latencies.h"

/* A thread and a lock. */
struct tie {
	uint64_t space, address, thread;
	bool holds, local, released;
	uint64_t since_ns;	/* it holds the lock, or has released it */
};

struct locks {
	struct futexes *futexes;
	struct tie *ties;		/* sorted */
	size_t n_ties, ties_room;
};

struct locks *locks_new(struct futexes *futexes)
{
	struct locks *l = calloc(1, sizeof(*l));

	if (l)
		l->futexes = futexes;
	return l;
}

void locks_free(struct locks *l)
{
	free(l->ties);
	free(l);
}

void locks_begin(struct locks *l)
{
	l->n_ties = 0;
}

static bool before(const struct tie *one, const struct tie *other)
{
	if (one->space != other->space)
		return one->space < other->space;
	if (one->address != other->address)
		return one->address < other->address;
	return one->thread < other->thread;
}

static struct tie untied(const struct lock_event *event, uint64_t address)
{
	return (struct tie){
		.space = event->space, .address = address, .thread = event->thread,
	};
}

/* Where it is among all, or would be. */
static size_t place_of(const struct locks *l, const struct tie *tie)
{
	size_t low = 0, high = l->n_ties;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (before(&l->ties[middle], tie))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: the thread has had nothing to do with the lock. */
static struct tie *tie_of(const struct locks *l, const struct lock_event *event, uint64_t address)
{
	struct tie wanted = untied(event, address);
	size_t place = place_of(l, &wanted);

	return place < l->n_ties && !before(&wanted, &l->ties[place]) ? &l->ties[place] : NULL;
}

/* A new one if need be. NULL without memory. */
static struct tie *bind(struct locks *l, const struct lock_event *event, uint64_t address)
{
	struct tie wanted = untied(event, address);
	struct tie *known = tie_of(l, event, address);
	size_t place = place_of(l, &wanted);

	if (known)
		return known;
	if (!ARRAY_GROW(l->ties, l->n_ties, l->ties_room))
		return NULL;
	memmove(&l->ties[place + 1], &l->ties[place], (l->n_ties - place) * sizeof(*l->ties));
	l->n_ties++;
	l->ties[place] = wanted;
	return &l->ties[place];
}

static void add(struct lock_times *times, uint64_t begin_ns, uint64_t end_ns)
{
	times->count++;
	times->ns += latency_between(begin_ns, end_ns);
}

static int take(struct locks *l, const struct handoff *handoff)
{
	bool local = handoff->released.cpu == handoff->back.cpu;
	struct futex *futex;
	struct tie *tie;

	if (handoff->early)
		return 0;
	futex = futexes_at(l->futexes, handoff->back.space, handoff->address);
	if (!futex)
		return -1;
	if (local)
		futex->use.local++;
	else
		futex->use.remote++;
	futex->use.moved += handoff->waited.cpu != handoff->back.cpu;
	if (!handoff->plain)
		return 0;
	add(&futex->use.handoff, handoff->released.ns, handoff->back.ns);
	tie = bind(l, &handoff->back, handoff->address);
	if (!tie)
		return -1;
	tie->holds = true;
	tie->local = local;
	tie->released = false;
	tie->since_ns = handoff->back.ns;
	return 0;
}

int locks_end(struct locks *l, const struct handoffs *h)
{
	const struct handoff *last;
	size_t next = 0;

	while ((last = handoffs_next(h, &next)))
		if (take(l, last))
			return -1;
	return 0;
}

/* The thread waits, and so it is no longer outside. */
static int come_in(struct locks *l, const struct lock_event *event, uint64_t address)
{
	struct tie *tie = tie_of(l, event, address);
	struct futex *futex;

	if (!tie)
		return 0;
	if (tie->released) {
		futex = futexes_at(l->futexes, event->space, address);
		if (!futex)
			return -1;
		add(&futex->use.outside, tie->since_ns, event->ns);
	}
	tie->released = false;
	tie->holds = false;
	return 0;
}

static int go_out(struct locks *l, const struct lock_event *event, uint64_t address)
{
	struct tie *tie = bind(l, event, address);
	struct futex *futex;

	if (!tie)
		return -1;
	if (tie->holds) {
		futex = futexes_at(l->futexes, event->space, address);
		if (!futex)
			return -1;
		add(tie->local ? &futex->use.hold_local : &futex->use.hold_remote, tie->since_ns,
		    event->ns);
	}
	tie->holds = false;
	tie->released = true;
	tie->since_ns = event->ns;
	return 0;
}

int locks_call(struct locks *l, const struct lock_event *event, uint64_t number,
	       const uint64_t arguments[3], const struct handoff_news *news)
{
	if (news->taken && take(l, &news->handoff))
		return -1;
	switch (futex_operation(number, arguments)) {
	case FUTEX_WAITS:
		return come_in(l, event, arguments[0]);
	case FUTEX_RELEASES:
		return go_out(l, event, arguments[0]);
	default:
		return 0;
	}
}

int locks_return(struct locks *l, const struct lock_event *event, const struct handoff_news *news)
{
	struct futex *futex;

	if (news->taken)
		return take(l, &news->handoff);
	if (!news->left)
		return 0;
	futex = futexes_at(l->futexes, event->space, news->address);
	if (!futex)
		return -1;
	futex->use.left += news->left;
	return 0;
}
