// SPDX-License-Identifier: LGPL-2.1-or-later
/* Members: OpenMP's threads, and the control variables of their tasks. */
#include <pthread.h>

#include "affinity.h"
#include "env.h"
#include "workshare.h"
#include "task.h"

__thread struct member *gomp_self;

/* The thread's member outside of parallel regions. */
static __thread struct member outside;
static __thread atomic_uint busy;

static pthread_key_t key;

/* A thread of the program ends, and with it the threads for its regions. */
static void end(void *member)
{
	gomp_pool_end(member);
	gomp_workshare_leave(member);
	gomp_workshare_free_spares(member);
	gomp_tasks_leave(member);
}

/*
 * For a fork() outside of regions or in a target region there. Inside a region, the runtime ends
 * the child at its next wait (process.c).
 */
static void after_fork(void)
{
	/* The threads are the parent's, and may have been changing the pool. */
	outside.pool = NULL;
	if (gomp_self)
		gomp_self->pool_owner->pool = NULL;
}

__attribute__((constructor)) static void begin(void)
{
	if (pthread_key_create(&key, end) || pthread_atfork(NULL, NULL, after_fork))
		gomp_fatal("no key for thread-specific data, or no memory for a fork() handler");
}

struct member *gomp_member_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, gomp_environment_used);
	pthread_setspecific(key, &outside);
	outside.teams = 1;
	outside.busy = &busy;
	outside.pool_owner = &outside;
	outside.attached = &outside;
	gomp_base_begin(&outside, NULL, &gomp_environment.icv);
	gomp_places_enter(&outside);
	gomp_self = &outside;
	return &outside;
}

void gomp_base_begin(struct member *self, struct task *outer, const struct icv *icv)
{
	self->base = (struct task){ .parent = outer, .icv = &self->base.own_icv, .own_icv = *icv };
	self->task = &self->base;
}

struct icv *gomp_icv_own(struct task *task)
{
	if (task->icv != &task->own_icv) {
		task->own_icv = *task->icv;
		task->icv = &task->own_icv;
	}
	return task->icv;
}
