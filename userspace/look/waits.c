// SPDX-License-Identifier: GPL-2.0
#include "waits.h"

#include <linux/futex.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The kernel's PID_MAX_LIMIT. Memory for ids that do not occur is never touched. */
#define THREADS (4u << 20)

/* Missing in older headers. */
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

enum state {
	RUNNING,
	WAITING,	/* in a futex call that waits */
	WAKING,		/* in one that wakes */
};

struct waits_thread {
	pid_t process;
	bool known, lives;
	uint64_t since, lived_ns;	/* recorded life */
	enum state state;
	struct waits_word *word;	/* WAITING: for this; WAKING: of this; NULL: not known */
	struct waits_call call;		/* while not RUNNING */
	int cpu;			/* where the call began */
	uint64_t began;
	unsigned int woke;		/* WAKING: threads so far */
	bool silent;			/* no event of its own in this stretch */
	struct {			/* WAITING: by which call it was woken */
		bool woken;
		int cpu;
		uint64_t began;
	} by;
	struct waits_word *had;		/* the word of the wait it was just woken from */
	struct {			/* the lock that it is about to wait for */
		struct waits_word *lock;	/* NULL: none */
		uint64_t word;			/* of its first wait for it; 0: none yet */
		bool once;
	} probe;
};

int waits_open(struct waits *w)
{
	*w = (struct waits){ .threads = NULL };
	w->threads = mmap(NULL, THREADS * sizeof(*w->threads), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return w->threads == MAP_FAILED ? -1 : 0;
}

static void keep(void *node)
{
	(void)node;
}

void waits_close(struct waits *w)
{
	tdestroy(w->by_address, keep);
	tdestroy(w->by_thread, keep);
	for (struct waits_word *word = w->words, *next; word; word = next) {
		next = word->next;
		for (struct waits_part *part = word->parts, *other; part; part = other) {
			other = part->next;
			free(part);
		}
		free(word);
	}
	free(w->known);
	munmap(w->threads, THREADS * sizeof(*w->threads));
}

static struct waits_thread *thread_of(const struct waits *w, pid_t tid)
{
	return &w->threads[(unsigned int)tid % THREADS];
}

static bool know(struct waits *w, pid_t tid)
{
	if (w->count == w->room) {
		unsigned int room = w->room ? 2 * w->room : 64;
		pid_t *known = reallocarray(w->known, room, sizeof(*known));

		if (!known)
			return false;
		w->known = known;
		w->room = room;
	}
	w->known[w->count++] = tid;
	return true;
}

void waits_thread(struct waits *w, pid_t tid, pid_t process, uint64_t ns)
{
	struct waits_thread *t = thread_of(w, tid);

	if (tid <= 0 || t->lives)
		return;
	if (!t->known && !know(w, tid)) {
		w->out_of_memory = true;
		return;
	}
	*t = (struct waits_thread){
		.process = process,
		.known = true,
		.lives = true,
		.since = ns ? ns : w->begun,
		.began = w->begun,
		.silent = !ns,
		.lived_ns = t->lived_ns,
	};
}

pid_t waits_process(const struct waits *w, pid_t tid)
{
	return thread_of(w, tid)->process;
}

uint64_t waits_lived_ns(const struct waits *w, pid_t tid)
{
	return thread_of(w, tid)->lived_ns;
}

static int compare_words(const void *a, const void *b)
{
	const struct waits_word *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->probe > y->probe) - (x->probe < y->probe);
}

static int compare_parts(const void *a, const void *b)
{
	const struct waits_part *x = a, *y = b;

	if (x->word != y->word)
		return x->word < y->word ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The element that equals `sought`; *made: a copy of it, if there was none. NULL: no memory. */
static void *find(struct waits *w, void **tree, const void *sought, size_t size,
		  int (*compare)(const void *, const void *), bool *made)
{
	void **node = tfind(sought, tree, compare);
	void *copy;

	*made = !node;
	if (node)
		return *node;
	copy = malloc(size);
	if (copy) {
		memcpy(copy, sought, size);
		if (tsearch(copy, tree, compare))
			return copy;
		free(copy);
	}
	w->out_of_memory = true;
	return NULL;
}

static struct waits_word *word_of(struct waits *w, pid_t process, uint64_t address, int probe)
{
	const struct waits_word sought = { .process = process, .address = address, .probe = probe };
	struct waits_word *word;
	bool made;

	word = find(w, &w->by_address, &sought, sizeof(sought), compare_words, &made);
	if (word && made) {
		word->next = w->words;
		w->words = word;
	}
	return word;
}

static struct waits_part *part_of(struct waits *w, struct waits_word *word, pid_t tid)
{
	const struct waits_part sought = { .word = word, .tid = tid };
	struct waits_part *part;
	bool made;

	part = find(w, &w->by_thread, &sought, sizeof(sought), compare_parts, &made);
	if (part && made) {
		part->next = word->parts;
		word->parts = part;
	}
	return part;
}

/* Add the time of a wait, up to now. */
static void add_wait(struct waits *w, pid_t tid, uint64_t ns)
{
	struct waits_thread *t = thread_of(w, tid);
	struct waits_part *part = part_of(w, t->word, tid);

	if (part)
		part->wait_ns += ns - t->began;
}

void waits_begin(struct waits *w, uint64_t ns)
{
	w->begun = ns;
	for (unsigned int i = 0; i < w->count; i++) {
		struct waits_thread *t = thread_of(w, w->known[i]);

		t->since = ns;
		t->began = ns;
		t->silent = true;
		t->by.woken = false;
		t->had = NULL;
		t->probe.lock = NULL;
		/* A call that wakes is short. A wait goes on, until another event shows that not. */
		if (t->state == WAKING)
			t->state = RUNNING;
	}
}

void waits_end(struct waits *w, uint64_t ns)
{
	w->recorded_ns += ns - w->begun;
	for (unsigned int i = 0; i < w->count; i++) {
		struct waits_thread *t = thread_of(w, w->known[i]);

		if (!t->lives)
			continue;
		t->lived_ns += ns - t->since;
		if (t->state == WAITING)
			add_wait(w, w->known[i], ns);
	}
}

void waits_exit(struct waits *w, pid_t tid, uint64_t ns)
{
	struct waits_thread *t = thread_of(w, tid);

	if (!t->lives)
		return;
	t->lived_ns += ns - t->since;
	t->lives = false;
	t->state = RUNNING;
}

static bool waits(uint32_t operation, unsigned int *forms)
{
	*forms = operation & FUTEX_PRIVATE_FLAG ? 0 : WAITS_SHARED;
	if (operation & FUTEX_CLOCK_REALTIME)
		*forms |= WAITS_REALTIME;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		*forms |= WAITS_PLAIN;
		return true;
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
		*forms |= WAITS_BITSET;
		return true;
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		*forms |= WAITS_PI;
		return true;
	default:
		return false;
	}
}

static bool wakes(uint32_t operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_UNLOCK_PI:
		return true;
	default:
		return false;
	}
}

/* FAST looks at a FUTEX_WAKE of one. */
static bool is_one(const struct waits_call *call)
{
	uint32_t command = call->operation & FUTEX_CMD_MASK;

	return (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) && call->value == 1;
}

static void expect(struct waits_word *word, uint32_t value)
{
	if (!word->waits)
		word->first = word->last = value;
	word->changes += value != word->last;
	/* A counter may wrap. */
	word->falls += (int32_t)(value - word->last) < 0;
	word->last = value;
}

/* The lock that a probe has told is waited for, in the place of the word. */
static struct waits_word *probed(struct waits_thread *t, uint64_t address)
{
	if (!t->probe.lock || (t->probe.word && (t->probe.once || t->probe.word != address))) {
		t->probe.lock = NULL;
		return NULL;
	}
	t->probe.word = address;
	return t->probe.lock;
}

static void begin_wait(struct waits *w, pid_t tid, unsigned int forms)
{
	struct waits_thread *t = thread_of(w, tid);
	struct waits_word *word = probed(t, t->call.address);
	struct waits_part *part;

	if (!word)
		word = word_of(w, t->process, t->call.address, -1);
	part = word ? part_of(w, word, tid) : NULL;
	if (!part)
		return;
	if (t->had == word)
		word->in_vain++;
	expect(word, t->call.value);
	word->forms |= forms;
	word->waits++;
	part->waits++;
	t->word = word;
	t->by.woken = false;
	t->state = WAITING;
}

void waits_enter(struct waits *w, pid_t tid, int cpu, uint64_t ns, const struct waits_call *call)
{
	struct waits_thread *t = thread_of(w, tid);
	unsigned int forms;

	if (!t->lives)
		return;
	/* If it was not RUNNING, its return was not recorded. */
	t->silent = false;
	t->state = RUNNING;
	t->call = *call;
	t->cpu = cpu;
	t->began = ns;
	if (waits(call->operation, &forms)) {
		begin_wait(w, tid, forms);
	} else if (wakes(call->operation)) {
		t->state = WAKING;
		t->word = NULL;
		t->woke = 0;
		t->probe.lock = NULL;
	}
	t->had = NULL;
}

/* It has waited since before the stretch; what for, its waker says. */
static void suppose_wait(struct waits *w, struct waits_thread *t, const struct waits_call *waker)
{
	t->word = word_of(w, t->process, waker->address, -1);
	if (!t->word)
		return;
	t->call = *waker;
	t->cpu = -1;
	t->state = WAITING;
}

void waits_waking(struct waits *w, pid_t by, pid_t tid)
{
	struct waits_thread *waker = thread_of(w, by), *t = thread_of(w, tid);
	bool private = waker->call.operation & FUTEX_PRIVATE_FLAG;

	if (!waker->lives || waker->state != WAKING || !t->lives || t->by.woken)
		return;
	if (t->silent && (t->state == RUNNING || t->call.address != waker->call.address))
		suppose_wait(w, t, &waker->call);
	/* An interrupt may wake another thread meanwhile. Between processes addresses differ. */
	if (t->state != WAITING || (private && t->call.address != waker->call.address))
		return;
	waker->woke++;
	waker->word = t->word;
	t->by.woken = true;
	t->by.cpu = waker->cpu;
	t->by.began = waker->began;
	t->word->woken++;
}

static void end_wake(struct waits *w, pid_t tid, int64_t result)
{
	struct waits_thread *t = thread_of(w, tid);
	struct waits_part *part = t->woke ? part_of(w, t->word, tid) : NULL;

	if (!part)
		return;
	part->wakes++;
	t->word->wakes++;
	t->word->ones += is_one(&t->call) && result == 1;
}

static void end_wait(struct waits_thread *t, int cpu, uint64_t ns)
{
	struct waits_word *word = t->word;

	if (!t->by.woken)
		return;
	word->taken++;
	word->remote += cpu != t->by.cpu;
	word->moved += t->cpu >= 0 && cpu != t->cpu;
	word->handoff_ns += ns - t->by.began;
	t->had = word;
}

void waits_leave(struct waits *w, pid_t tid, int cpu, uint64_t ns, int64_t result)
{
	struct waits_thread *t = thread_of(w, tid);

	if (!t->lives)
		return;
	if (t->state == WAITING) {
		add_wait(w, tid, ns);
		if (result == 0)
			end_wait(t, cpu, ns);
	} else if (t->state == WAKING) {
		end_wake(w, tid, result);
	}
	t->silent = false;
	t->state = RUNNING;
	t->by.woken = false;
}

void waits_probe(struct waits *w, pid_t tid, int probe, uint64_t lock, bool once)
{
	struct waits_thread *t = thread_of(w, tid);

	if (!t->lives)
		return;
	t->probe.lock = word_of(w, t->process, lock, probe);
	if (t->probe.lock)
		t->probe.lock->found_taken++;
	t->probe.word = 0;
	t->probe.once = once;
}
