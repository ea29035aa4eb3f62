// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dependences between the children of a task: per address, the last child that writes it and the
 * children that read it since. One lock per parent, held briefly, for each creation and end of a
 * child with dependences.
 */
#include <pthread.h>
#include <stdlib.h>

#include "park.h"
#include "task.h"

/* A child with dependences; lives while it runs or an address refers to it. */
struct node {
	unsigned int references;
	unsigned int pending;		/* predecessors that have not ended */
	bool done;
	bool waits;			/* the parent itself waits for its dependences */
	atomic_bool ready;
	struct task *task;
	struct node **after;		/* successors */
	size_t after_count, after_room;
};

struct address {
	const void *address;
	struct address *next;		/* in its hash chain */
	struct node *writer;
	struct node **readers;
	size_t count, room;
};

#define LEAST_BITS 6

struct depends {
	pthread_mutex_t lock;
	struct address **chains;	/* hash table of 2^bits chains */
	unsigned int bits;
	size_t count;			/* addresses; at most one per chain on average */
	/*
	 * left: queued children that have not ended. ending: those that will end in any case,
	 * because they have no predecessor and no event that the parent may have to fulfil.
	 */
	unsigned int left, ending;
	unsigned int enough;		/* the throttled parent waits until `left` falls to this */
	atomic_bool many;		/* the parent is throttled */
};

static bool ends(const struct node *node)
{
	return !node->pending && !node->task->event;
}

static void append(struct node ***list, size_t *count, size_t *room, struct node *node)
{
	if (*count == *room) {
		*room = *room ? 2 * *room : 4;
		*list = realloc(*list, *room * sizeof(**list));
		if (!*list)
			gomp_fatal("out of memory for dependences");
	}
	(*list)[(*count)++] = node;
}

static void release(struct node *node)
{
	if (--node->references)
		return;
	free(node->after);
	free(node);
}

static void add_edge(struct node *before, struct node *node)
{
	if (before == node || before->done)
		return;
	append(&before->after, &before->after_count, &before->after_room, node);
	node->pending++;
}

static struct address **chain_of(const struct depends *depends, const void *address)
{
	return &depends->chains[(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >>
				(64 - depends->bits)];
}

static void enter_address(struct depends *depends, struct address *address)
{
	struct address **chain = chain_of(depends, address->address);

	address->next = *chain;
	*chain = address;
}

static void resize(struct depends *depends, unsigned int bits)
{
	struct address **before = depends->chains;
	const size_t chains = before ? (size_t)1 << depends->bits : 0;

	depends->chains = gomp_allocate(sizeof(*before) << bits);
	depends->bits = bits;
	for (size_t i = 0; i < chains; i++)
		while (before[i]) {
			struct address *address = before[i];

			before[i] = address->next;
			enter_address(depends, address);
		}
	free(before);
}

static struct address *find(struct depends *depends, const void *address)
{
	struct address *found = *chain_of(depends, address);

	while (found && found->address != address)
		found = found->next;
	if (!found) {
		if (++depends->count > (size_t)1 << depends->bits)
			resize(depends, depends->bits + 1);
		found = gomp_allocate(sizeof(*found));
		found->address = address;
		enter_address(depends, found);
	}
	return found;
}

static void forget_readers(struct address *address, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < address->count; i++)
		if (all || address->readers[i]->done)
			release(address->readers[i]);
		else
			address->readers[kept++] = address->readers[i];
	address->count = kept;
}

static void read(struct depends *depends, const void *at, struct node *node)
{
	struct address *address = find(depends, at);

	if (address->writer)
		add_edge(address->writer, node);
	if (address->count == address->room)
		forget_readers(address, false);
	append(&address->readers, &address->count, &address->room, node);
	node->references++;
}

static void write(struct depends *depends, const void *at, struct node *node)
{
	struct address *address = find(depends, at);

	for (size_t i = 0; i < address->count; i++)
		add_edge(address->readers[i], node);
	if (address->writer) {
		add_edge(address->writer, node);
		release(address->writer);
	}
	forget_readers(address, true);
	address->writer = node;
	node->references++;
}

/*
 * The ABI has two forms: all, writers, addresses; or 0, all, writers, mutually exclusive, readers.
 */
static void enter(struct depends *depends, void **depend, struct node *node)
{
	const bool plain = depend[0] != NULL;
	const size_t all = (size_t)depend[plain ? 0 : 1];
	const size_t writers = plain ? (size_t)depend[1] : (size_t)depend[2] + (size_t)depend[3];
	const size_t direct = plain ? all : writers + (size_t)depend[4];
	void **addresses = depend + (plain ? 2 : 5);

	for (size_t i = 0; i < all; i++) {
		if (i < writers) {
			write(depends, addresses[i], node);
		} else if (i < direct) {
			read(depends, addresses[i], node);
		} else {
			/* An omp_depend_t: an address and a kind. */
			void **object = addresses[i];

			if ((uintptr_t)object[1] == DEPEND_IN)
				read(depends, object[0], node);
			else
				write(depends, object[0], node);
		}
	}
}

static struct depends *make_depends(void)
{
	struct depends *depends = gomp_allocate(sizeof(*depends));

	pthread_mutex_init(&depends->lock, NULL);
	resize(depends, LEAST_BITS);
	return depends;
}

bool gomp_depend(struct task *parent, struct task *task, void **depend, bool caller_waits)
{
	struct node *node = gomp_allocate(sizeof(*node));
	bool waits;

	if (!parent->depends)
		parent->depends = make_depends();
	node->references = 1;
	node->task = task;
	node->waits = caller_waits;
	task->node = node;
	pthread_mutex_lock(&parent->depends->lock);
	enter(parent->depends, depend, node);
	waits = node->pending;
	if (!caller_waits) {
		parent->depends->left++;
		parent->depends->ending += ends(node);
	}
	atomic_store_explicit(&node->ready, !waits, memory_order_relaxed);
	pthread_mutex_unlock(&parent->depends->lock);
	return waits;
}

static bool not_ready(const void *word, unsigned long arg)
{
	(void)arg;
	/* Acquire: what the predecessors wrote. */
	return !atomic_load_explicit((const atomic_bool *)word, memory_order_acquire);
}

void gomp_depend_wait(struct task *task)
{
	atomic_bool *ready = &task->node->ready;

	while (not_ready(ready, 0))
		gomp_park(ready, not_ready, 0);
}

static bool are_many(const void *word, unsigned long arg)
{
	(void)arg;
	return atomic_load_explicit((const atomic_bool *)word, memory_order_relaxed);
}

void gomp_depend_throttle(struct task *parent, unsigned int most)
{
	struct depends *depends = parent->depends;

	if (!depends)
		return;
	pthread_mutex_lock(&depends->lock);
	if (depends->left > most && depends->ending) {
		depends->enough = most / 2;
		atomic_store_explicit(&depends->many, true, memory_order_relaxed);
	}
	pthread_mutex_unlock(&depends->lock);
	while (are_many(&depends->many, 0))
		gomp_park(&depends->many, are_many, 0);
}

/* A queued child has ended. True: wake the parent. */
static bool are_few(struct depends *depends, const struct node *node)
{
	depends->left--;
	depends->ending -= ends(node);
	if ((depends->left > depends->enough && depends->ending) ||
	    !are_many(&depends->many, 0))
		return false;
	atomic_store_explicit(&depends->many, false, memory_order_relaxed);
	return true;
}

void gomp_depend_end(struct task *task)
{
	struct depends *depends = task->parent->depends;
	struct node *node = task->node;
	bool goes_on = false;
	size_t ready = 0;

	pthread_mutex_lock(&depends->lock);
	node->done = true;
	for (size_t i = 0; i < node->after_count; i++)
		if (!--node->after[i]->pending) {
			depends->ending += !node->after[i]->waits && ends(node->after[i]);
			node->after[ready++] = node->after[i];
		}
	if (!node->waits)
		goes_on = are_few(depends, node);
	/*
	 * After unlocking: a started task may run at once. Each successor is made ready by one
	 * thread.
	 */
	pthread_mutex_unlock(&depends->lock);
	if (goes_on)
		gomp_unpark_all(&depends->many);
	for (size_t i = 0; i < ready; i++) {
		struct node *next = node->after[i];

		if (next->waits) {
			/* The waiter may be gone at once: the word is only a key then. */
			atomic_store_explicit(&next->ready, true, memory_order_release);
			gomp_unpark_all(&next->ready);
		} else {
			gomp_task_start(next->task);
		}
	}
	pthread_mutex_lock(&depends->lock);
	release(node);
	pthread_mutex_unlock(&depends->lock);
}

void gomp_depends_free(struct task *parent)
{
	struct depends *depends = parent->depends;

	for (size_t i = 0; i < (size_t)1 << depends->bits; i++)
		while (depends->chains[i]) {
			struct address *address = depends->chains[i];

			depends->chains[i] = address->next;
			forget_readers(address, true);
			if (address->writer)
				release(address->writer);
			free(address->readers);
			free(address);
		}
	pthread_mutex_destroy(&depends->lock);
	free(depends->chains);
	free(depends);
	parent->depends = NULL;
}
