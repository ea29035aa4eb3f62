// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where work is put, and where a worker finds it. */
#include <sched.h>
#include <time.h>

#include "worker.h"

static void tell_length(struct ivl_worker *worker)
{
	if (worker->mask)
		ivl_stealability_update(worker->mask, worker->number,
					(unsigned int)ivl_pool_size(worker->pool));
}

int ivl_put_slowly(struct ivl_worker *worker, struct ivl_work *work)
{
	/* Once it is in the queue it may be run, and its memory gone. */
	const bool spawner = work->run == ivl_resume_spawner || work->run == ivl_resume_asyncer;
	int error = ivl_pool_put(worker->pool, work);

	if (error)
		return error;
	ivl_count(worker, puts);
	if (spawner)
		ivl_count(worker, spawners);
	tell_length(worker);
	ivl_idle_wake_near(worker);
	return 0;
}

struct ivl_work *ivl_take_slowly(struct ivl_worker *worker)
{
	struct ivl_work *work = ivl_pool_take(worker->pool);

	ivl_count(worker, takes);
	if (!work)
		ivl_count(worker, take_failures);
	tell_length(worker);
	return work;
}

static void post(struct ivl_mailbox *mailbox, struct ivl_work *work)
{
	cds_wfcq_node_init(&work->node);
#ifdef IVL_TSAN
	/* liburcu's atomics are invisible to it. */
	__tsan_release(work);
#endif
	cds_wfcq_enqueue(&mailbox->head, &mailbox->tail, &work->node);
}

void ivl_post(ivl_runtime *runtime, struct ivl_work *work, const struct ivl_place *place)
{
	post(&runtime->halls[place->index].mailbox, work);
	/* Relaxed: for those who are busy; idle ones look into the mailbox. */
	atomic_fetch_add_explicit(&runtime->attention, IVL_MAIL, memory_order_relaxed);
	ivl_idle_wake(runtime, place);
}

void ivl_post_stackless(struct ivl_worker *worker, struct ivl_work *work)
{
	post(&worker->runtime->halls[worker->place->index].stackless, work);
	/* Another worker may keep some. */
	ivl_idle_wake(worker->runtime, worker->place);
}

static bool is_here(const struct ivl_worker *worker, const ivl_runtime *runtime,
		    const ivl_place *place)
{
	return worker && worker->runtime == runtime && (!place || place == worker->place);
}

void ivl_submit(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	if (is_here(worker, runtime, place)) {
		if (!ivl_put(worker, work))
			return;
		place = worker->place;
	}
	if (!place)
		place = ivl_place_at(runtime,
				     atomic_fetch_add_explicit(&runtime->turn, 1,
							       memory_order_relaxed));
	ivl_post(runtime, work, place);
}

static void give_up_next(struct ivl_worker *worker)
{
	struct ivl_work *next = worker->next;

	worker->next = NULL;
	if (next)
		ivl_submit(worker->runtime, next, NULL);
}

void ivl_submit_next(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	if (is_here(worker, runtime, place)) {
		give_up_next(worker);
		worker->next = work;
	} else {
		ivl_submit(runtime, work, place);
	}
}

void ivl_stay(void)
{
	struct ivl_worker *worker = ivl_self();

	if (!worker)
		return;
	if (worker->parent)
		ivl_tell_ended(worker, false);
	give_up_next(worker);
}

static bool is_empty(struct ivl_mailbox *mailbox)
{
	return cds_wfcq_empty(&mailbox->head, &mailbox->tail);
}

/* What came first, and whether there is more. */
static struct ivl_work *open_box(struct ivl_mailbox *mailbox, bool *more)
{
	struct cds_wfcq_node *node;
	struct ivl_work *work;

	if (is_empty(mailbox) ||
	    atomic_exchange_explicit(&mailbox->taken, true, memory_order_acquire))
		return NULL;
	node = __cds_wfcq_dequeue_nonblocking(&mailbox->head, &mailbox->tail);
	if (node == CDS_WFCQ_WOULDBLOCK)
		node = NULL;
	*more = node && !is_empty(mailbox);
	atomic_store_explicit(&mailbox->taken, false, memory_order_release);
	if (!node)
		return NULL;
	work = caa_container_of(node, struct ivl_work, node);
#ifdef IVL_TSAN
	__tsan_acquire(work);
#endif
	return work;
}

static struct ivl_work *open_mailbox(struct ivl_worker *worker, struct ivl_hall *hall)
{
	bool more;
	struct ivl_work *work = open_box(&hall->mailbox, &more);

	if (!work)
		return NULL;
	atomic_fetch_sub_explicit(&worker->runtime->attention, IVL_MAIL, memory_order_relaxed);
	/* Who came while we were looking in saw a mailbox that was taken. */
	if (more)
		ivl_idle_wake(worker->runtime, worker->place);
	ivl_count(worker, mailbox);
	return work;
}

/* Work that waits for a stack, if this worker has one. */
static struct ivl_work *begin_stackless(struct ivl_worker *worker, struct ivl_hall *hall)
{
	bool more;

	if (is_empty(&hall->stackless) || !ivl_fiber_there(worker))
		return NULL;
	return open_box(&hall->stackless, &more);
}

bool ivl_serve_stackless(ivl_runtime *runtime)
{
	struct ivl_work *work;
	bool more;

	for (unsigned int i = 0; i < runtime->topology->leaf_count; i++) {
		struct ivl_mailbox *stackless = &runtime->halls[i].stackless;

		if (is_empty(stackless))
			continue;
		if (ivl_stacks_exceed(runtime->stacks)) {
			ivl_idle_wake(runtime, ivl_place_at(runtime, i));
			return true;
		}
		work = open_box(stackless, &more);
		if (work) {
			ivl_refuse(work);
			return true;
		}
	}
	return false;
}

/* Take more from a victim, up to half of what it has, into the own queue. */
static void steal_more(struct ivl_worker *worker, struct ivl_worker *victim)
{
	size_t more = ivl_pool_size(victim->pool) / 2;
	void *element;

	while (more-- && ivl_pool_steal(victim->pool, &element) == IVL_STOLEN) {
		atomic_fetch_add_explicit(&victim->lost, 1, memory_order_relaxed);
		if (ivl_put(worker, element))
			ivl_post(worker->runtime, element, worker->place);
	}
}

static struct ivl_work *steal_from(struct ivl_worker *worker, struct ivl_worker *victim)
{
	const bool remote = victim->place != worker->place;
	void *element;
	bool stolen;

	stolen = ivl_pool_steal(victim->pool, &element) == IVL_STOLEN;
	if (stolen && worker->runtime->config.steal_half)
		steal_more(worker, victim);

	ivl_count(worker, steals);
	if (remote)
		ivl_count(worker, steals_remote);
	if (!stolen) {
		ivl_count(worker, steal_failures);
		if (remote)
			ivl_count(worker, steal_failures_remote);
		return NULL;
	}
	atomic_fetch_add_explicit(&victim->lost, 1, memory_order_relaxed);
	if (worker->mask)
		ivl_stealability_update(worker->mask, victim->number,
					(unsigned int)ivl_pool_size(victim->pool));
	return element;
}

/*
 * Stealing costs thief and victim some hundred nanoseconds. Where what was stolen took
 * less (WORTH), a thief that goes on only slows its victim down: it waits, each time
 * twice as long. Not asleep: being woken it would come in the way of its victim, too.
 */
#define WORTH 400
#define LEAST_PAUSE 1000
#define LONGEST_PAUSE 128000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Before looking for a victim: was the last one worth it? */
static void hesitate(struct ivl_worker *worker)
{
	const uint64_t stolen = worker->stolen_ns, now = stolen ? now_ns() : 0;

	if (!stolen)
		return;
	worker->stolen_ns = 0;
	if (now - stolen >= WORTH) {
		worker->pause_ns = 0;
		return;
	}
	if (worker->pause_ns < LONGEST_PAUSE)
		worker->pause_ns = worker->pause_ns ? 2 * worker->pause_ns : LEAST_PAUSE;
	while (now_ns() - now < worker->pause_ns)
		sched_yield();
}

static struct ivl_work *steal(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	struct ivl_hall *hall = &runtime->halls[worker->place->index];
	struct ivl_work *work;
	bool looked = false;
	int number;

	if (!runtime->shared) {
		hesitate(worker);
		ivl_chooser_begin(worker->chooser);
		while ((number = ivl_chooser_next(worker->chooser)) >= 0) {
			struct ivl_worker *victim = &runtime->workers[number];

			/* A place's mailbox comes after its queues (SLAW, section IV). */
			if (!looked && victim->place != worker->place) {
				looked = true;
				work = open_mailbox(worker, hall);
				if (work)
					return work;
			}
			work = steal_from(worker, victim);
			if (work) {
				worker->stolen_ns = now_ns();
				ivl_chooser_succeeded(worker->chooser);
				return work;
			}
		}
	}
	return looked ? NULL : open_mailbox(worker, hall);
}

/*
 * Mail comes after the queues (SLAW, section IV), but waits no longer than so many spawns
 * and pieces of work of a worker that could take it.
 */
#define MAIL_WAITS 64

/* The halls from whose mailboxes the worker takes, its own first. */
static unsigned int halls_of(const struct ivl_worker *worker)
{
	return worker->runtime->config.cross_place ? worker->runtime->topology->leaf_count : 1;
}

static struct ivl_hall *hall_at(struct ivl_worker *worker, unsigned int i)
{
	ivl_runtime *runtime = worker->runtime;

	return &runtime->halls[(worker->place->index + i) % runtime->topology->leaf_count];
}

/* In a mailbox from which the worker takes. */
static bool has_mail(struct ivl_worker *worker)
{
	for (unsigned int i = 0; i < halls_of(worker); i++)
		if (!is_empty(&hall_at(worker, i)->mailbox))
			return true;
	return false;
}

bool ivl_mail_waited(struct ivl_worker *worker)
{
	if (++worker->passed < MAIL_WAITS)
		return false;
	worker->passed = 0;
	return has_mail(worker);
}

static bool publish_way(void *arg, struct ivl_waiter *waiter)
{
	(void)arg;
	return !ivl_put(ivl_self(), &waiter->work);
}

void ivl_give_way(struct ivl_worker *worker)
{
	worker->mail_first = true;
	ivl_wait(publish_way, NULL);
}

static struct ivl_work *open_first(struct ivl_worker *worker)
{
	struct ivl_work *work = NULL;

	worker->mail_first = false;
	for (unsigned int i = 0; i < halls_of(worker) && !work; i++)
		work = open_mailbox(worker, hall_at(worker, i));
	return work;
}

struct ivl_work *ivl_find(struct ivl_worker *worker)
{
	/* What is next comes before all: nobody else can have it. */
	struct ivl_work *work = worker->mail_first && !worker->next ? open_first(worker) : NULL;

	if (!work)
		work = ivl_take_next(worker);
	if (!work && ivl_hold_nothing_back(worker, NULL))
		work = ivl_take_next(worker);
	if (!work)
		work = begin_stackless(worker, hall_at(worker, 0));
	if (!work)
		work = steal(worker);
	for (unsigned int i = 1; i < halls_of(worker) && !work; i++) {
		work = open_mailbox(worker, hall_at(worker, i));
		if (!work)
			work = begin_stackless(worker, hall_at(worker, i));
	}
	return work;
}

bool ivl_anything(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	const bool everywhere = runtime->config.cross_place;

	if (has_mail(worker))
		return true;
	for (unsigned int i = 0; i < runtime->topology->workers; i++) {
		const struct ivl_worker *other = &runtime->workers[i];

		if ((everywhere || other->place == worker->place) &&
		    ivl_pool_size(other->pool))
			return true;
	}
	return false;
}
