// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parallel regions. A thread's pool has the threads for its regions. They keep their numbers, and
 * so their threadprivate variables. Between regions they sleep outside of the runtime, where they
 * would steal tasks. A nested region with one thread is serialized: it needs no runtime, since its
 * tasks are undeferred until one is detached.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <futex.h>

#include "affinity.h"
#include "env.h"
#include "park.h"
#include "workshare.h"
#include "task.h"
#include "taskgroup.h"

struct thread {
	struct member member;
	struct pool *pool;
	pthread_t thread;
	/* Incremented by thread 0 to start the thread. */
	_Alignas(GOMP_LINE) atomic_uint go;
	atomic_uint asleep;		/* on the pool's `called` */
};

/* As for struct team, mind the lines between regions. */
struct pool {
	struct team team;
	ivl_runtime *runtime;
	struct thread **threads;	/* number 0 has no thread of its own */
	struct icv icv;			/* of the region's implicit tasks */
	struct member *caller;
	atomic_bool stops;
	_Alignas(GOMP_LINE) atomic_uint called;	/* wake-ups of sleeping threads */
	unsigned int count;
	struct ivl_worker *before;	/* the caller's worker before the region */
};

struct serialized {
	struct team team;
	struct member member;
	struct member *members[1];
	struct pool *pool;		/* queues its tasks; NULL: undeferred */
	struct ivl_worker *before;	/* the thread's worker before that */
};

static void *allocate(size_t bytes)
{
	return memset(gomp_allocate_aligned(GOMP_LINE, bytes), 0, bytes);
}

/* Reserve up to `wanted` threads within the limit. `busy` excludes the initial thread. */
static unsigned int reserve(atomic_uint *busy, unsigned int limit, unsigned int wanted)
{
	unsigned int now = atomic_load_explicit(busy, memory_order_relaxed), more;

	/* Relaxed: only a count. */
	do {
		const unsigned int left = limit - 1 > now ? limit - 1 - now : 0;

		more = wanted < left ? wanted : left;
	} while (!atomic_compare_exchange_weak_explicit(busy, &now, now + more,
							memory_order_relaxed,
							memory_order_relaxed));
	return more;
}

unsigned int gomp_team_size(struct member *self, unsigned int asked)
{
	const struct icv *icv = self->task->icv;
	unsigned int size = asked ? asked : icv->threads;

	if (self->team && self->team->active_level >= icv->max_active_levels)
		return 1;
	if (!icv->max_active_levels)
		return 1;
	if (icv->dynamic && size > gomp_environment.cpus)
		size = gomp_environment.cpus;
	return icv->thread_limit == UINT_MAX ? size :
		reserve(self->busy, icv->thread_limit, size - 1) + 1;
}

/* The ICVs of a region's tasks; lists go by level. */
static struct icv inherited(const struct icv *icv)
{
	struct icv result = *icv;
	const unsigned int level = ++result.level_in_list;

	if (level < gomp_environment.levels)
		result.threads = gomp_environment.threads[level];
	if (level < gomp_environment.bind_levels)
		result.bind = gomp_environment.binds[level];
	return result;
}

static void inherit(struct member *self, struct member *outer)
{
	self->outer = outer;
	self->busy = outer->busy;
	self->team_number = outer->team_number;
	self->teams = outer->teams;
}

static void begin_task(struct member *self)
{
	struct pool *pool = ((struct thread *)self)->pool;

	if (self->base.depends)
		gomp_depends_free(&self->base);
	inherit(self, pool->caller);
	gomp_base_begin(self, self->outer->task, &pool->icv);
	gomp_workshare_begin(self);
	gomp_tasks_begin(self);
	ivl_local()->finish = (struct ivl_finish *)&pool->team.tasks.group;
}

/* For ivl_futex_wait_in(). */
static uint32_t group_of(unsigned int number)
{
	return UINT32_C(1) << number % 32;
}

/* Wait for the next region, after one with `threads` threads. */
static unsigned int sleep_until_region(struct thread *thread, unsigned int seen,
				       unsigned int threads)
{
	/* Acquire: what thread 0 has written. */
	gomp_spin_while_with(atomic_load_explicit(&thread->go, memory_order_acquire) == seen,
			     threads);
	while (atomic_load_explicit(&thread->go, memory_order_acquire) == seen) {
		struct pool *pool = thread->pool;
		unsigned int called;

		/* All are seq_cst, as in wake_threads(): it sees us asleep, or we see `go`. */
		atomic_store(&thread->asleep, 1);
		called = atomic_load(&pool->called);
		if (atomic_load(&thread->go) == seen)
			ivl_futex_wait_in(&pool->called, called, group_of(thread->member.number));
		atomic_store(&thread->asleep, 0);
	}
	return seen + 1;
}

/* Start threads 1 to size - 1, the sleeping ones with one call. */
static void wake_threads(struct pool *pool, unsigned int size)
{
	uint32_t groups = 0;

	for (unsigned int i = 1; i < size; i++) {
		struct thread *thread = pool->threads[i];

		atomic_fetch_add(&thread->go, 1);
		if (atomic_load(&thread->asleep))
			groups |= group_of(i);
	}
	if (groups) {
		atomic_fetch_add(&pool->called, 1);
		ivl_futex_wake_all_in(&pool->called, groups);
	}
}

static bool leaves(const void *waiting, unsigned long arg)
{
	(void)arg;
	return gomp_team_leaves(waiting);
}

void gomp_team_await_leaving(atomic_uint *waiting)
{
	while (gomp_team_leaves(waiting))
		gomp_park(waiting, leaves, 0);
}

/*
 * The waiter sees that the barrier is over when it looks again, after the fence in gomp_park(); or
 * thread 0 sees the waiter, after the fence at the end of the region.
 */
void gomp_team_wait_begin(atomic_uint *waiting)
{
	atomic_fetch_add_explicit(waiting, 1, memory_order_relaxed);
}

void gomp_team_wait_end(atomic_uint *waiting)
{
	if (atomic_fetch_sub_explicit(waiting, 1, memory_order_release) == 1)
		gomp_unpark_all(waiting);
}

static void *thread_main(void *arg)
{
	struct thread *thread = arg;
	struct member *self = &thread->member;
	struct team *team = &thread->pool->team;
	unsigned int seen = 0, size = UINT_MAX;

	gomp_self = self;
	for (;;) {
		seen = sleep_until_region(thread, seen, size);
		if (atomic_load(&thread->pool->stops))
			break;
		ivl_attach(self->external);
		begin_task(self);
		gomp_bind(self);
		gomp_affinity_display(self);
		team->function(team->data);
		size = team->size;
		gomp_barrier_wait(self, &team->final, false);
		ivl_detach(NULL);
	}
	gomp_pool_end(self);
	return NULL;
}

static void start_thread(struct thread *thread)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, gomp_environment.stack_bytes);
	error = pthread_create(&thread->thread, &attributes, thread_main, thread);
	pthread_attr_destroy(&attributes);
	if (error)
		gomp_fatal("thread %u of a parallel region: %s", thread->member.number,
			   strerror(error));
}

static struct thread *make_thread(struct pool *pool, unsigned int number)
{
	struct thread *thread = allocate(sizeof(*thread));
	struct member *member = &thread->member;

	thread->pool = pool;
	member->number = number;
	member->team = &pool->team;
	member->pool_owner = member;
	member->attached = member;
	member->external = ivl_attach_prepare(pool->runtime, 0);
	if (!member->external)
		gomp_fatal("out of memory for thread %u", number);
	return thread;
}

static void no_stack(void)
{
	gomp_fatal("out of memory: all threads of the region wait, and a further task needs a stack "
		   "of %zu bytes (OMP_STACKSIZE)", gomp_environment.stack_bytes);
}

static struct pool *make_pool(void)
{
	struct pool *pool = allocate(sizeof(*pool));
	struct ivl_config config;

	if (ivl_config_init(&config))
		gomp_fatal("%s", ivl_last_error());
	config.workers = 1;
	config.places = IVL_PLACES_ONE;
	config.policy = IVL_HELP_FIRST;
	config.stack_bytes = gomp_environment.stack_bytes;
	/* Limited by memory only: a waiting task must not keep another from beginning. */
	config.fibers_per_worker = 1u << 30;
	if (ivl_start_threadless(&config, no_stack, &pool->runtime))
		gomp_fatal("%s", ivl_last_error());
	pool->team.tasks.group = (struct ivl_group)IVL_GROUP_INIT;
	return pool;
}

static void grow(struct pool *pool, unsigned int size)
{
	if (size <= pool->count)
		return;
	pool->threads = realloc(pool->threads, size * sizeof(struct thread *));
	if (!pool->threads)
		gomp_fatal("out of memory for %u threads", size);
	/* struct thread begins with its member. */
	pool->team.members = (struct member **)pool->threads;
	while (pool->count < size) {
		struct thread *thread = make_thread(pool, pool->count);

		pool->threads[pool->count++] = thread;
		if (thread->member.number)
			start_thread(thread);
	}
}

void gomp_pool_end(struct member *self)
{
	struct pool *pool = self->pool;

	if (!pool)
		return;
	self->pool = NULL;
	atomic_store(&pool->stops, true);
	wake_threads(pool, pool->count);
	for (unsigned int i = 1; i < pool->count; i++)
		pthread_join(pool->threads[i]->thread, NULL);
	gomp_pool_end(&pool->threads[0]->member);
	for (unsigned int i = 0; i < pool->count; i++) {
		if (pool->threads[i]->member.base.depends)
			gomp_depends_free(&pool->threads[i]->member.base);
		gomp_workshare_free_spares(&pool->threads[i]->member);
		gomp_tasks_leave(&pool->threads[i]->member);
		free(pool->threads[i]);
	}
	gomp_events_free(&pool->team);
	ivl_stop(pool->runtime);
	free(pool->threads);
	free(pool);
}

static void begin_team(struct team *team, struct member *self, unsigned int size)
{
	const struct team *outer = self->team;
	const unsigned int level = (outer ? outer->level : 0) + 1;
	const unsigned int active_level = (outer ? outer->active_level : 0) + (size > 1);

	/* Cancelled threads have left the barrier as it was. */
	if (team->size != size || gomp_environment.cancellation) {
		gomp_barrier_init(&team->barrier, size);
		gomp_barrier_init(&team->final, size);
		gomp_events_free(team);
	}
	GOMP_RENEW(team->size, size);
	GOMP_RENEW(team->level, level);
	GOMP_RENEW(team->active_level, active_level);
	team->counted = outer ? size - 1 : size;
	atomic_fetch_add_explicit(&gomp_threads, team->counted, memory_order_relaxed);
	team->reserved = self->task->icv->thread_limit == UINT_MAX ? 0 : size - 1;
	gomp_reset(&team->cancelled);
	gomp_reset(&team->share_cancelled);
	gomp_reset(&team->tasks.cancelled);
	GOMP_RENEW(team->tasks.reductions, NULL);
}

static struct team *begin_serialized(struct member *self)
{
	struct serialized *serialized = allocate(sizeof(*serialized));
	struct member *member = &serialized->member;
	struct icv icv;

	begin_team(&serialized->team, self, 1);
	serialized->team.serialized = true;
	serialized->team.undeferred = true;
	serialized->team.tasks.group = (struct ivl_group)IVL_GROUP_INIT;
	serialized->members[0] = member;
	serialized->team.members = serialized->members;
	member->team = &serialized->team;
	member->pool_owner = self->pool_owner;
	member->attached = self->attached;
	member->external = self->external;
	icv = inherited(self->task->icv);
	inherit(member, self);
	gomp_base_begin(member, self->task, &icv);
	/* It runs in the frame of the task that begins it. */
	member->base.nesting = self->task->nesting & -GOMP_LOCKED;
	gomp_workshare_begin(member);
	member->place = member->bound = self->place;
	member->part = self->part;
	member->part_count = self->part_count;
	gomp_self = member;
	return &serialized->team;
}

static struct pool *pool_of(struct member *self, unsigned int size)
{
	struct pool **pool = &self->pool_owner->pool;

	if (!*pool)
		*pool = make_pool();
	grow(*pool, size);
	return *pool;
}

/*
 * Tasks in the attached runtime could be taken by other threads. The pool for regions inside this
 * one has a runtime with only this thread; such regions then get another pool.
 */
void gomp_team_queue_tasks(struct member *self)
{
	struct serialized *serialized = (struct serialized *)self->team;

	serialized->pool = pool_of(self, 1);
	serialized->team.undeferred = false;
	self->pool_owner = self;
	self->attached = self;
	ivl_attach_expect(serialized->pool->runtime, 1);
	serialized->before = ivl_attach(serialized->pool->threads[0]->member.external);
	gomp_tasks_begin(self);
	ivl_local()->finish = (struct ivl_finish *)gomp_group_of(self, self->task->taskgroup);
}

static void end_serialized(struct member *self)
{
	struct serialized *serialized = (struct serialized *)self->team;

	if (serialized->pool) {
		gomp_pool_end(self);
		ivl_attach_expect_fewer(serialized->pool->runtime, 1);
		ivl_detach(serialized->before);
		gomp_tasks_leave(self);
		gomp_events_free(&serialized->team);
	}
	if (self->base.depends)
		gomp_depends_free(&self->base);
	gomp_workshare_free_spares(self);
	free(serialized);
}

struct team *gomp_team_begin(unsigned int size, unsigned int bind)
{
	struct member *self = gomp_member(), *member;
	struct pool *pool;
	struct icv icv;

	if (size == 1 && self->team)
		return begin_serialized(self);
	pool = pool_of(self, size);
	begin_team(&pool->team, self, size);
	icv = inherited(self->task->icv);
	if (memcmp(&pool->icv, &icv, sizeof(icv)))
		pool->icv = icv;
	GOMP_RENEW(pool->caller, self);
	member = &pool->threads[0]->member;
	gomp_places_choose(self, &pool->team, bind ? bind : self->task->icv->bind);
	if (size > 1)
		ivl_attach_oversubscribed(pool->runtime, gomp_oversubscribed(0));
	ivl_attach_expect(pool->runtime, size);
	pool->before = ivl_attach(member->external);
	gomp_self = member;
	begin_task(member);
	gomp_bind(member);
	gomp_affinity_display(member);
	return &pool->team;
}

void gomp_team_release(struct team *team, void (*function)(void *), void *data)
{
	GOMP_RENEW(team->function, function);
	GOMP_RENEW(team->data, data);
	if (team->size > 1)
		wake_threads((struct pool *)team, team->size);
}

void gomp_team_end(void)
{
	struct member *self = gomp_member();
	struct team *team = self->team;

	gomp_barrier_wait(self, &team->final, false);
	gomp_workshare_end(self);
	atomic_fetch_sub_explicit(&gomp_threads, team->counted, memory_order_relaxed);
	if (team->reserved)
		atomic_fetch_sub_explicit(self->busy, team->reserved, memory_order_relaxed);
	gomp_self = self->outer;
	if (team->serialized) {
		end_serialized(self);
	} else {
		struct pool *pool = ((struct thread *)self)->pool;

		/* Pairs with the fence in gomp_park(): see gomp_team_wait_begin(). */
		atomic_thread_fence(memory_order_seq_cst);
		/* They had no part in this region, and would wait at the end of the next, too. */
		gomp_team_await_leaving(gomp_team_waiting(team, 0));
		ivl_attach_expect_fewer(pool->runtime, team->size);
		ivl_detach(pool->before);
	}
}

void gomp_parallel(void (*function)(void *), void *data, unsigned int asked, unsigned int flags)
{
	struct team *team = gomp_team_begin(gomp_team_size(gomp_member(), asked), flags & 7);

	gomp_team_release(team, function, data);
	function(data);
	gomp_team_end();
}

GOMP_PUBLIC void GOMP_parallel(void (*function)(void *), void *data, unsigned int asked,
			       unsigned int flags)
{
	gomp_parallel(function, data, asked, flags);
}

/* Before GCC 4.9 the caller runs the function itself, in between. */
GOMP_PUBLIC void GOMP_parallel_start(void (*function)(void *), void *data, unsigned int asked)
{
	gomp_team_release(gomp_team_begin(gomp_team_size(gomp_member(), asked), 0), function,
			  data);
}

GOMP_PUBLIC void GOMP_parallel_end(void)
{
	gomp_team_end();
}
