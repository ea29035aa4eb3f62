// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads as OpenMP sees them, and the control variables of their tasks. */
#include <pthread.h>

#include "env.h"
#include "gomp.h"

__thread struct member *gomp_self;

/* Of each thread: what it is outside of all parallel regions. */
static __thread struct member outside;
static __thread atomic_uint busy;

static pthread_key_t key;

/* A thread of the program ends: so do those that it has for its regions. */
static void end_pool(void *member)
{
	gomp_pool_end(member);
}

__attribute__((constructor)) static void make_key(void)
{
	if (pthread_key_create(&key, end_pool))
		gomp_fatal("no key for thread-specific data");
}

struct member *gomp_member_begin(void)
{
	pthread_setspecific(key, &outside);
	outside.icv = gomp_environment.icv;
	outside.teams = 1;
	outside.busy = &busy;
	outside.attends = &outside;
	outside.base.icv = &outside.icv;
	outside.base.implicit = true;
	outside.task = &outside.base;
	gomp_self = &outside;
	return &outside;
}

void gomp_base_begin(struct member *self, struct task *outer)
{
	self->base = (struct task){ .parent = outer, .icv = &self->icv, .implicit = true,
				    .final = false };
	self->task = &self->base;
}

struct icv *gomp_icv_own(struct task *task)
{
	if (!task->implicit && !task->own_icv) {
		struct icv *own = gomp_allocate(sizeof(*own));

		*own = *task->icv;
		task->icv = own;
		task->own_icv = true;
	}
	return task->icv;
}
