// SPDX-License-Identifier: GPL-2.0
/*
 * "Doubly Linked list (doubly_list) consists of a doubly linked list where
 * threads dequeue elements from the head and enqueues them on to the tail of
 * the list. The enqueue and dequeue operations are performed independent of
 * each other with separate lock acquire and release operations. The doubly
 * linked list is protected by a single lock." (section 3.2.1).
 *
 * The list holds two elements for each thread, so it never is empty: a thread
 * holds at most one. The dequeue updates all --cs-lines lines of its element.
 */
#include <inttypes.h>
#include <pthread.h>

#include "common/bench.h"
#include "common/layout.h"
#include "common/think.h"

/* The first line of an element; its other lines hold one word, `visits`, each. */
struct element {
	uint64_t visits;
	struct element *next;
	struct element *prev;
};

struct list {
	struct element *head;
	struct element *tail;
};

static struct padded lock;
static struct padded the_list;
static struct padded elements;

static unsigned int length(const struct options *opt)
{
	return 2 * opt->threads;
}

static void enqueue(struct list *list, struct element *e)
{
	e->next = NULL;
	e->prev = list->tail;
	if (list->tail)
		list->tail->next = e;
	else
		list->head = e;
	list->tail = e;
}

static struct element *dequeue(struct list *list)
{
	struct element *e = list->head;

	list->head = e->next;
	if (list->head)
		list->head->prev = NULL;
	else
		list->tail = NULL;
	return e;
}

static void setup(const struct options *opt)
{
	lock = padded_mutexes(1, opt->line);
	the_list = padded_alloc(1, sizeof(struct list), opt->line);
	elements = padded_alloc(length(opt), (size_t)opt->cs_lines * opt->line, opt->line);
	for (unsigned int i = 0; i < length(opt); i++)
		enqueue(padded_at(&the_list, 0), padded_at(&elements, i));
}

static void iterate(struct worker *w)
{
	struct element *e;

	pthread_mutex_lock(padded_at(&lock, 0));
	e = dequeue(padded_at(&the_list, 0));
	counter_increment(e, w->opt->cs_lines, w->opt->line);
	pthread_mutex_unlock(padded_at(&lock, 0));
	think(w);

	pthread_mutex_lock(padded_at(&lock, 0));
	enqueue(padded_at(&the_list, 0), e);
	pthread_mutex_unlock(padded_at(&lock, 0));
	think(w);
}

/* As many elements as there are, back links that mirror the links, every dequeue counted once. */
static void check(const struct options *opt, struct verdict *verdict)
{
	const struct list *list = padded_at(&the_list, 0);
	const struct element *prev = NULL;
	uint64_t visits = 0, expected = opt->warmup + opt->iterations;
	unsigned int n = 0;

	/* No further than the length: a damaged list may be a ring. */
	for (const struct element *e = list->head; e && n <= length(opt); e = e->next, n++) {
		unsigned int bad = counter_mismatch(e, opt->cs_lines, opt->line, e->visits);

		if (bad < opt->cs_lines)
			verdict_fail(verdict, "element %u: line %u has %" PRIu64 " visits, line 0 has %"
				     PRIu64, n, bad, counter_value(e, bad, opt->line), e->visits);
		if (e->prev != prev)
			verdict_fail(verdict, "element %u: its back link misses the element before", n);
		visits += e->visits;
		prev = e;
	}
	if (n != length(opt))
		verdict_fail(verdict, "the list holds %s%u elements, not %u",
			     n > length(opt) ? "at least " : "", n, length(opt));
	if (list->tail != prev)
		verdict_fail(verdict, "the tail is not the last element");
	if (visits != expected)
		verdict_fail(verdict, "the elements were dequeued %" PRIu64 " times, not %" PRIu64,
			     visits, expected);
}

const struct bench benchmark = {
	.name = "doubly_list",
	.fixed_locks = 1,
	.setup = setup,
	.iterate = iterate,
	.check = check,
};
