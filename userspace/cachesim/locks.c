// SPDX-License-Identifier: GPL-2.0
#include "locks.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "latencies.h"

struct waiter {
	struct lock_event called;
	uint64_t address;
	uint64_t since;		/* when it came, in the order of all events */
	bool plain;		/* FUTEX_WAIT */
	bool woken;		/* it is back; what it does next says whether it has the lock */
	bool local;
	bool moved;
	uint64_t released_ns, back_ns;
};

struct release {
	struct lock_event called;
	uint64_t address;
	uint64_t over;		/* when its call returned, as above, and woke one; 0: it has not */
	uint64_t taken;		/* since when whom it woke had waited, as far as is known; or 0 */
	uint64_t left;		/* waiters besides the one that it wakes */
};

/* A thread and a lock. */
struct tie {
	uint64_t space, address, thread;
	bool holds, local, released;
	uint64_t since_ns;	/* it holds the lock, or has released it */
};

struct locks {
	struct futexes *futexes;
	uint64_t events;
	struct waiter *waiters;		/* one of a thread at most */
	size_t n_waiters, waiters_room;
	struct release *releases;	/* that are not over, or none has taken; the oldest first */
	size_t n_releases, releases_room;
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
	free(l->waiters);
	free(l->releases);
	free(l->ties);
	free(l);
}

static void forget_waiter(struct locks *l, struct waiter *waiter)
{
	*waiter = l->waiters[--l->n_waiters];
}

void locks_begin(struct locks *l)
{
	l->n_releases = 0;
	l->n_ties = 0;
	for (size_t i = l->n_waiters; i-- > 0;)
		if (l->waiters[i].woken)
			forget_waiter(l, &l->waiters[i]);
}

bool locks_expects_return(const struct locks *l)
{
	return l->n_waiters || l->n_releases;
}

static bool is_by(const struct lock_event *one, const struct lock_event *other)
{
	return one->space == other->space && one->thread == other->thread;
}

static struct waiter *waiter_of(const struct locks *l, const struct lock_event *event)
{
	for (size_t i = 0; i < l->n_waiters; i++)
		if (is_by(&l->waiters[i].called, event))
			return &l->waiters[i];
	return NULL;
}

/* The one whose call has not returned. */
static struct release *release_of(const struct locks *l, const struct lock_event *event)
{
	for (size_t i = 0; i < l->n_releases; i++)
		if (is_by(&l->releases[i].called, event) && !l->releases[i].over)
			return &l->releases[i];
	return NULL;
}

static void forget_release(struct locks *l, struct release *release)
{
	l->n_releases--;
	for (; release < l->releases + l->n_releases; release++)
		*release = release[1];
}

static bool is_of(const struct release *release, uint64_t space, uint64_t address)
{
	return release->called.space == space && release->address == address && !release->taken;
}

/*
 * That which woke somebody who has waited for the word since then: the oldest that may have. It may
 * have begun before the wait did, and come to the kernel's queue after it.
 */
static struct release *untaken(const struct locks *l, uint64_t space, uint64_t address,
			       uint64_t since)
{
	for (size_t i = 0; i < l->n_releases; i++) {
		struct release *one = &l->releases[i];

		if (is_of(one, space, address) && (!one->over || one->over > since))
			return one;
	}
	return NULL;
}

static void mark_taken(struct locks *l, struct release *release, uint64_t since)
{
	release->taken = since;
	if (release->over)
		forget_release(l, release);
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
	void *grown;

	if (known)
		return known;
	grown = array_grow(l->ties, l->n_ties, &l->ties_room, sizeof(*l->ties));
	if (!grown)
		return NULL;
	l->ties = grown;
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

/* The waiter, which is back, has the lock. */
static int take(struct locks *l, const struct waiter *waiter)
{
	struct futex *futex = futexes_at(l->futexes, waiter->called.space, waiter->address);
	struct tie *tie;

	if (!futex)
		return -1;
	if (waiter->local)
		futex->use.local++;
	else
		futex->use.remote++;
	futex->use.moved += waiter->moved;
	if (!waiter->plain)
		return 0;
	add(&futex->use.handoff, waiter->released_ns, waiter->back_ns);
	tie = bind(l, &waiter->called, waiter->address);
	if (!tie)
		return -1;
	tie->holds = true;
	tie->local = waiter->local;
	tie->released = false;
	tie->since_ns = waiter->back_ns;
	return 0;
}

int locks_end(struct locks *l)
{
	int failed = 0;

	for (size_t i = l->n_waiters; i-- > 0;) {
		if (!l->waiters[i].woken)
			continue;
		failed |= take(l, &l->waiters[i]);
		forget_waiter(l, &l->waiters[i]);
	}
	return failed;
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

static int wait(struct locks *l, const struct lock_event *event, uint64_t address, bool plain)
{
	void *grown = array_grow(l->waiters, l->n_waiters, &l->waiters_room, sizeof(*l->waiters));

	if (!grown)
		return -1;
	l->waiters = grown;
	l->waiters[l->n_waiters++] = (struct waiter){
		.called = *event, .address = address, .since = ++l->events, .plain = plain,
	};
	return plain ? come_in(l, event, address) : 0;
}

/* Those whom a release that is made now, and those before it, can wake, but for one each. */
static uint64_t left_behind(const struct locks *l, uint64_t space, uint64_t address)
{
	uint64_t waiting = 0, woken = 1;

	for (size_t i = 0; i < l->n_waiters; i++)
		waiting += l->waiters[i].called.space == space && !l->waiters[i].woken &&
			   l->waiters[i].address == address;
	for (size_t i = 0; i < l->n_releases; i++)
		woken += is_of(&l->releases[i], space, address);
	return waiting > woken ? waiting - woken : 0;
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

static int release(struct locks *l, const struct lock_event *event, uint64_t address)
{
	void *grown = array_grow(l->releases, l->n_releases, &l->releases_room,
				 sizeof(*l->releases));

	if (!grown)
		return -1;
	l->releases = grown;
	l->releases[l->n_releases] = (struct release){
		.called = *event, .address = address,
		.left = left_behind(l, event->space, address),
	};
	l->n_releases++;
	return go_out(l, event, address);
}

int locks_call(struct locks *l, const struct lock_event *event, uint64_t number,
	       const uint64_t arguments[3])
{
	enum futex_operation operation = futex_operation(number, arguments);
	bool waits = operation == FUTEX_WAITS || operation == FUTEX_WAITS_OTHERWISE;
	uint64_t address = arguments[0];
	struct waiter *known = waiter_of(l, event);

	if (known) {
		bool again = waits && known->address == address;

		if (known->woken && !again && take(l, known))
			return -1;
		/* Not woken: a signal interrupted the call. */
		forget_waiter(l, known);
	}
	if (waits)
		return wait(l, event, address, operation == FUTEX_WAITS);
	return operation == FUTEX_RELEASES ? release(l, event, address) : 0;
}

/* A release that has woken one. */
static int leave_behind(struct locks *l, const struct release *release)
{
	struct futex *futex = futexes_at(l->futexes, release->called.space, release->address);

	if (!futex)
		return -1;
	futex->use.left += release->left;
	return 0;
}

/* The waiter's call has returned: what is known of it then. */
static int come_back(struct locks *l, struct waiter *waiter, const struct lock_event *event,
		     uint64_t result)
{
	struct release *by = result ? NULL : untaken(l, event->space, waiter->address,
						     waiter->since);
	int failed = 0;

	if (by) {
		waiter->local = by->called.cpu == event->cpu;
		waiter->moved = waiter->called.cpu != event->cpu;
		waiter->released_ns = by->called.ns;
		waiter->back_ns = event->ns;
		waiter->woken = waiter->plain;
		mark_taken(l, by, waiter->since);
		if (!waiter->plain)
			failed = take(l, waiter);
	}
	if (!waiter->woken)
		forget_waiter(l, waiter);
	return failed;
}

/* The release call has returned, and has woken one thread or none. */
static int is_over(struct locks *l, struct release *own, bool one)
{
	const struct release was = *own;
	struct release *instead;

	if (one)
		own->over = ++l->events;
	if (!one || own->taken)
		forget_release(l, own);
	if (one)
		return leave_behind(l, &was);
	/* Who has taken it was woken by another one, which nobody else may take. */
	instead = was.taken ? untaken(l, was.called.space, was.address, was.taken) : NULL;
	if (instead)
		mark_taken(l, instead, was.taken);
	return 0;
}

int locks_return(struct locks *l, const struct lock_event *event, uint64_t result)
{
	struct release *own = release_of(l, event);
	struct waiter *waiter = waiter_of(l, event);

	return own ? is_over(l, own, result == 1) :
	       waiter && !waiter->woken ? come_back(l, waiter, event, result) : 0;
}
