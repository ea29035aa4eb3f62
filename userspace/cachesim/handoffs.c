// SPDX-License-Identifier: GPL-2.0
#include "handoffs.h"

#include <stdlib.h>

#include "array.h"

struct waiter {
	struct handoff handoff;	/* fields that are not known yet are 0 */
	uint64_t since;		/* number of the event by which it began to wait */
	bool woken;		/* it is back; its next call shows whether it has the lock */
};

struct release {
	struct lock_event called;
	uint64_t address;
	bool early;
	uint64_t returned;	/* number of the event by which it returned 1; or 0 */
	uint64_t taken;		/* `since` of the waiter that it woke; 0: unknown */
	uint64_t left;		/* waiters that remain after it */
};

struct latency {
	uint64_t space;
	uint64_t ns;
};

struct handoffs {
	uint64_t events;
	struct waiter *waiters;		/* one for each thread at most */
	size_t n_waiters, waiters_room;
	struct release *releases;	/* not returned, or not taken; the oldest first */
	size_t n_releases, releases_room;
	struct latency *latencies;
	size_t n_latencies, latencies_room;
};

struct handoffs *handoffs_new(void)
{
	return calloc(1, sizeof(struct handoffs));
}

void handoffs_free(struct handoffs *h)
{
	free(h->waiters);
	free(h->releases);
	free(h->latencies);
	free(h);
}

static void forget_waiter(struct handoffs *h, struct waiter *waiter)
{
	*waiter = h->waiters[--h->n_waiters];
}

void handoffs_begin(struct handoffs *h)
{
	h->n_latencies = 0;
	for (size_t i = h->n_waiters; i-- > 0;)
		if (h->waiters[i].woken)
			forget_waiter(h, &h->waiters[i]);
	for (size_t i = 0; i < h->n_releases; i++)
		h->releases[i].early = true;
}

bool handoffs_expects_return(const struct handoffs *h)
{
	return h->n_waiters || h->n_releases;
}

static bool is_by(const struct lock_event *one, const struct lock_event *other)
{
	return one->space == other->space && one->thread == other->thread;
}

static struct waiter *waiter_of(const struct handoffs *h, const struct lock_event *event)
{
	for (size_t i = 0; i < h->n_waiters; i++)
		if (is_by(&h->waiters[i].handoff.waited, event))
			return &h->waiters[i];
	return NULL;
}

/* The thread's release whose call has not returned. */
static struct release *release_of(const struct handoffs *h, const struct lock_event *event)
{
	for (size_t i = 0; i < h->n_releases; i++)
		if (is_by(&h->releases[i].called, event) && !h->releases[i].returned)
			return &h->releases[i];
	return NULL;
}

static void forget_release(struct handoffs *h, struct release *release)
{
	h->n_releases--;
	for (; release < h->releases + h->n_releases; release++)
		*release = release[1];
}

/* A release of the word whose waiter is not known. */
static bool is_untaken(const struct release *release, uint64_t space, uint64_t address)
{
	return release->called.space == space && release->address == address && !release->taken;
}

/*
 * The release that woke a waiter which waits for the word since `since`: the oldest one that may
 * have. A release may begin before the wait and reach the kernel's queue after it.
 */
static struct release *untaken(const struct handoffs *h, uint64_t space, uint64_t address,
			       uint64_t since)
{
	for (size_t i = 0; i < h->n_releases; i++) {
		struct release *one = &h->releases[i];

		if (is_untaken(one, space, address) && (!one->returned || one->returned > since))
			return one;
	}
	return NULL;
}

static int wait(struct handoffs *h, const struct lock_event *event, uint64_t address, bool plain)
{
	if (!ARRAY_GROW(h->waiters, h->n_waiters, h->waiters_room))
		return -1;
	h->waiters[h->n_waiters++] = (struct waiter){
		.handoff = { .address = address, .waited = *event, .plain = plain },
		.since = ++h->events,
	};
	return 0;
}

/* The waiters that remain when a release made now and all before it have woken one waiter each. */
static uint64_t left_behind(const struct handoffs *h, uint64_t space, uint64_t address)
{
	uint64_t waiting = 0, woken = 1;

	for (size_t i = 0; i < h->n_waiters; i++)
		waiting += h->waiters[i].handoff.waited.space == space && !h->waiters[i].woken &&
			   h->waiters[i].handoff.address == address;
	for (size_t i = 0; i < h->n_releases; i++)
		woken += is_untaken(&h->releases[i], space, address);
	return waiting > woken ? waiting - woken : 0;
}

static int release(struct handoffs *h, const struct lock_event *event, uint64_t address)
{
	if (!ARRAY_GROW(h->releases, h->n_releases, h->releases_room))
		return -1;
	h->releases[h->n_releases] = (struct release){
		.called = *event, .address = address,
		.left = left_behind(h, event->space, address),
	};
	h->n_releases++;
	return 0;
}

static uint64_t latency_of(const struct handoff *handoff)
{
	return latency_between(handoff->released.ns, handoff->back.ns);
}

/* The waiter has returned, and has the lock. */
static int hand_over(struct handoffs *h, const struct waiter *waiter, struct handoff_news *news)
{
	if (!ARRAY_GROW(h->latencies, h->n_latencies, h->latencies_room))
		return -1;
	h->latencies[h->n_latencies++] = (struct latency){
		waiter->handoff.waited.space, latency_of(&waiter->handoff),
	};
	news->taken = true;
	news->handoff = waiter->handoff;
	return 0;
}

int handoffs_call(struct handoffs *h, const struct lock_event *event, uint64_t number,
		  const uint64_t arguments[3], struct handoff_news *news)
{
	enum futex_operation operation = futex_operation(number, arguments);
	bool waits = operation == FUTEX_WAITS || operation == FUTEX_WAITS_OTHERWISE;
	struct waiter *before = waiter_of(h, event);
	uint64_t address = arguments[0];

	*news = (struct handoff_news){ 0 };
	if (before) {
		bool again = waits && before->handoff.address == address;

		if (before->woken && !again && hand_over(h, before, news))
			return -1;
		/* Not woken: a signal interrupted the call. */
		forget_waiter(h, before);
	}
	if (waits)
		return wait(h, event, address, operation == FUTEX_WAITS);
	return operation == FUTEX_RELEASES ? release(h, event, address) : 0;
}

static void take(struct handoffs *h, struct release *release, uint64_t since)
{
	release->taken = since;
	if (release->returned)
		forget_release(h, release);
}

/* The waiter's call has returned. */
static void come_back(struct handoffs *h, struct waiter *waiter, const struct lock_event *event,
		      uint64_t result, struct handoff_news *news)
{
	struct handoff *handoff = &waiter->handoff;
	struct release *by = result ? NULL : untaken(h, event->space, handoff->address,
						     waiter->since);

	if (by) {
		handoff->released = by->called;
		handoff->early = by->early;
		handoff->back = *event;
		waiter->woken = handoff->plain;
		news->taken = !handoff->plain;
		news->handoff = *handoff;
		take(h, by, waiter->since);
	}
	if (!waiter->woken)
		forget_waiter(h, waiter);
}

/* The release call has returned, and has woken one thread or none. */
static void released(struct handoffs *h, struct release *release, bool one,
		     struct handoff_news *news)
{
	const struct release was = *release;
	struct release *instead;

	if (one)
		release->returned = ++h->events;
	if (!one || release->taken)
		forget_release(h, release);
	if (one) {
		news->left = was.early ? 0 : was.left;
		news->address = was.address;
		return;
	}
	/* The waiter that took it was woken by another release, which it takes instead. */
	instead = was.taken ? untaken(h, was.called.space, was.address, was.taken) : NULL;
	if (instead)
		take(h, instead, was.taken);
}

void handoffs_return(struct handoffs *h, const struct lock_event *event, uint64_t result,
		     struct handoff_news *news)
{
	struct release *own = release_of(h, event);
	struct waiter *waiter = waiter_of(h, event);

	*news = (struct handoff_news){ 0 };
	if (own)
		released(h, own, result == 1, news);
	else if (waiter && !waiter->woken)
		come_back(h, waiter, event, result, news);
}

const struct handoff *handoffs_next(const struct handoffs *h, size_t *i)
{
	while (*i < h->n_waiters) {
		const struct waiter *one = &h->waiters[(*i)++];

		if (one->woken)
			return &one->handoff;
	}
	return NULL;
}

int handoffs_latencies(const struct handoffs *h, uint64_t program, struct latencies *out)
{
	const struct handoff *last;
	size_t next = 0;

	for (size_t i = 0; i < h->n_latencies; i++)
		if (h->latencies[i].space == program && latencies_add(out, h->latencies[i].ns))
			return -1;
	while ((last = handoffs_next(h, &next)))
		if (last->waited.space == program && latencies_add(out, latency_of(last)))
			return -1;
	return 0;
}
