// SPDX-License-Identifier: GPL-2.0
#include "handoffs.h"

#include <linux/futex.h>
#include <stdlib.h>

#include "array.h"

#define SYS_FUTEX 202	/* of the guest, an x86-64 */

/* A word of a program. */
struct word {
	uint64_t space, address;
};

struct waiter {
	struct word word;
	uint64_t thread;
	uint64_t since;		/* when it came, in the order of all events */
	bool plain;		/* FUTEX_WAIT */
	bool woken;		/* it is back; what it does next says whether it has the lock */
	uint64_t latency_ns;
};

struct release {
	struct word word;
	uint64_t thread;
	uint64_t ns;
	uint64_t returned;	/* when, as above, with the answer that it woke one; or 0 */
	uint64_t taken;		/* since when the thread waited that it woke, as far as is known; or 0 */
};

struct handoff {
	uint64_t space;
	uint64_t ns;
};

struct handoffs {
	uint64_t events;
	struct waiter *waiters;		/* one of a thread at most */
	size_t n_waiters, waiters_room;
	struct release *releases;	/* that have not returned, or none has taken; the oldest first */
	size_t n_releases, releases_room;
	struct handoff *all;
	size_t n, room;
};

struct handoffs *handoffs_new(void)
{
	return calloc(1, sizeof(struct handoffs));
}

void handoffs_free(struct handoffs *h)
{
	free(h->waiters);
	free(h->releases);
	free(h->all);
	free(h);
}

static void forget_waiter(struct handoffs *h, struct waiter *waiter)
{
	*waiter = h->waiters[--h->n_waiters];
}

void handoffs_begin(struct handoffs *h)
{
	h->n = 0;
	for (size_t i = h->n_waiters; i-- > 0;)
		if (h->waiters[i].woken)
			forget_waiter(h, &h->waiters[i]);
}

bool handoffs_expects_return(const struct handoffs *h)
{
	return h->n_waiters || h->n_releases;
}

static struct waiter *waiter_of(const struct handoffs *h, uint64_t space, uint64_t thread)
{
	for (size_t i = 0; i < h->n_waiters; i++)
		if (h->waiters[i].word.space == space && h->waiters[i].thread == thread)
			return &h->waiters[i];
	return NULL;
}

/* The one whose call has not returned. */
static struct release *release_of(const struct handoffs *h, uint64_t space, uint64_t thread)
{
	for (size_t i = 0; i < h->n_releases; i++)
		if (h->releases[i].word.space == space && h->releases[i].thread == thread &&
		    !h->releases[i].returned)
			return &h->releases[i];
	return NULL;
}

static void forget_release(struct handoffs *h, struct release *release)
{
	h->n_releases--;
	for (; release < h->releases + h->n_releases; release++)
		*release = release[1];
}

static bool same(struct word one, struct word other)
{
	return one.space == other.space && one.address == other.address;
}

/*
 * That which woke somebody who has waited for the word since then: the oldest that may have. It may
 * have begun before the wait did, and come to the kernel's queue after it.
 */
static struct release *untaken(const struct handoffs *h, struct word word, uint64_t since)
{
	for (size_t i = 0; i < h->n_releases; i++) {
		struct release *one = &h->releases[i];

		if (same(one->word, word) && !one->taken &&
		    (!one->returned || one->returned > since))
			return one;
	}
	return NULL;
}

static int wait(struct handoffs *h, struct word word, uint64_t thread, bool plain)
{
	void *grown = array_grow(h->waiters, h->n_waiters, &h->waiters_room, sizeof(*h->waiters));

	if (!grown)
		return -1;
	h->waiters = grown;
	h->waiters[h->n_waiters++] = (struct waiter){
		.word = word, .thread = thread, .since = ++h->events, .plain = plain,
	};
	return 0;
}

static int release(struct handoffs *h, struct word word, uint64_t thread, uint64_t now_ns)
{
	void *grown = array_grow(h->releases, h->n_releases, &h->releases_room,
				 sizeof(*h->releases));

	if (!grown)
		return -1;
	h->releases = grown;
	h->releases[h->n_releases++] = (struct release){
		.word = word, .thread = thread, .ns = now_ns,
	};
	return 0;
}

static int hand_over(struct handoffs *h, const struct waiter *waiter)
{
	void *grown = array_grow(h->all, h->n, &h->room, sizeof(*h->all));

	if (!grown)
		return -1;
	h->all = grown;
	h->all[h->n++] = (struct handoff){ waiter->word.space, waiter->latency_ns };
	return 0;
}

static bool waits(uint64_t number, unsigned int command)
{
	return number == SYS_FUTEX && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

int handoffs_call(struct handoffs *h, uint64_t space, uint64_t thread, uint64_t number,
		  const uint64_t arguments[3], uint64_t now_ns)
{
	struct word word = { space, arguments[0] };
	/* The kernel takes it, and how many to wake, for 32 bits. */
	unsigned int command = (uint32_t)arguments[1] & FUTEX_CMD_MASK;
	struct waiter *before = waiter_of(h, space, thread);

	if (before) {
		bool again = waits(number, command) && same(before->word, word);

		if (before->woken && !again && hand_over(h, before))
			return -1;
		/* Not woken: a signal interrupted the call. */
		forget_waiter(h, before);
	}
	if (waits(number, command))
		return wait(h, word, thread, command == FUTEX_WAIT);
	if (number == SYS_FUTEX && (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) &&
	    (uint32_t)arguments[2] == 1)
		return release(h, word, thread, now_ns);
	return 0;
}

static void take(struct handoffs *h, struct release *release, uint64_t since)
{
	release->taken = since;
	if (release->returned)
		forget_release(h, release);
}

/* The waiter's call has returned: what is known of it then. */
static void come_back(struct handoffs *h, struct waiter *waiter, uint64_t result, uint64_t now_ns)
{
	struct release *by = result ? NULL : untaken(h, waiter->word, waiter->since);

	waiter->woken = by && waiter->plain;
	if (by) {
		waiter->latency_ns = latency_between(by->ns, now_ns);
		take(h, by, waiter->since);
	}
	if (!waiter->woken)
		forget_waiter(h, waiter);
}

/* The release call has returned, and has woken one thread or none. */
static void released(struct handoffs *h, struct release *release, bool one)
{
	const struct release was = *release;
	struct release *instead;

	if (one)
		release->returned = ++h->events;
	if (!one || release->taken)
		forget_release(h, release);
	if (one || !was.taken)
		return;
	/* Who has taken it was woken by another one, which nobody else may take. */
	instead = untaken(h, was.word, was.taken);
	if (instead)
		take(h, instead, was.taken);
}

void handoffs_return(struct handoffs *h, uint64_t space, uint64_t thread, uint64_t result,
		     uint64_t now_ns)
{
	struct release *own = release_of(h, space, thread);
	struct waiter *waiter = waiter_of(h, space, thread);

	if (own)
		released(h, own, result == 1);
	else if (waiter && !waiter->woken)
		come_back(h, waiter, result, now_ns);
}

int handoffs_latencies(const struct handoffs *h, uint64_t program, struct latencies *out)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->all[i].space == program && latencies_add(out, h->all[i].ns))
			return -1;
	for (size_t i = 0; i < h->n_waiters; i++)
		if (h->waiters[i].woken && h->waiters[i].word.space == program &&
		    latencies_add(out, h->waiters[i].latency_ns))
			return -1;
	return 0;
}
