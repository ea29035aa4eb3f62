/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GNU OpenMP ABI on the intervals runtime: what the parts of libintervals-gomp share.
 *
 * What the notions of OpenMP are on the runtime
 * ---------------------------------------------
 *
 * A *team* is a runtime without threads of its own, which the team's threads attend (attach.h).
 * It is made once for each thread that begins parallel regions, grows, and is used again.
 *
 * An *implicit task* is the base of a worker: the code of the region runs on its thread's own
 * stack. Compiled code uses ELF TLS for threadprivate variables, and keeps their addresses over
 * calls; so an implicit task must never change its thread, and the thread that meets the region
 * must be number 0 of it. An interval on a fiber could go on anywhere after a wait. At a barrier
 * the base waits: it runs tasks, each on a fiber, until the barrier is over.
 *
 * An *explicit task* is a child spawned into its parent's scope; taskwait is a sync, which runs a
 * child that nobody has stolen as a call. A stolen one runs on a fiber of the thief and, where
 * it waits, goes on in that thread alone: every task is tied. What waits suspends the fiber and
 * leaves the thread to other tasks; but who waits for a lock (critical, ordered, doacross), or holds
 * one while it waits, does so alone: its thread does nothing else as long as another can
 * (ivl_attached_exclusive()).
 *
 * A *taskgroup*, and the team itself for its barriers, is a group of the runtime, in which each
 * task is counted; workers count ahead, so that tasks share no line that all write to.
 */
#ifndef GOMP_GOMP_H
#define GOMP_GOMP_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <attach.h>
#include <blocks.h>

#define GOMP_LINE 128

/* Internal control variables that belong to a task's data environment (OpenMP 5.0, 2.5). */
struct icv {
	unsigned int threads;		/* nthreads-var */
	unsigned int level_in_list;	/* how many levels of OMP_NUM_THREADS are used up */
	unsigned int max_active_levels;
	unsigned int thread_limit;
	unsigned int schedule;		/* run-sched-var: enum schedule, with MONOTONIC */
	unsigned int dynamic;
	unsigned int bind;		/* omp_proc_bind_t */
	int device;
	long chunk;
	uintptr_t allocator;		/* def-allocator-var: an omp_allocator_handle_t */
};
static_assert(sizeof(struct icv) == 8 * sizeof(int) + sizeof(long) + sizeof(uintptr_t),
	      "they are compared byte by byte");

enum schedule { SCHEDULE_RUNTIME, SCHEDULE_STATIC, SCHEDULE_DYNAMIC, SCHEDULE_GUIDED,
		SCHEDULE_AUTO };
#define SCHEDULE_MONOTONIC 0x80000000u

struct taskgroup {
	struct ivl_group group;
	struct taskgroup *outer;
	uintptr_t *reductions;		/* the innermost registered, then by [4]; or NULL */
	bool workshare;			/* the worksharing construct's, for its reductions */
	atomic_bool cancelled;
};

/*
 * In task.nesting, of each lock that the task holds, or one in whose frame it runs: what they create
 * may take it, too, and is not run in their frames.
 */
#define GOMP_LOCKED 0x10000u

struct task {
	struct ivl_task spawned;
	struct ivl_scope scope;		/* its children */
	struct task *parent;
	struct taskgroup *taskgroup;	/* innermost around what it creates now; NULL: none */
	struct icv *icv;
	void (*function)(void *);
	void *data;
	struct depends *depends;	/* of its children; NULL: none has any */
	struct node *node;		/* its own dependences; NULL: none */
	struct event *event;		/* detach; NULL: none */
	struct member *creator;		/* in whose queue it was put */
	size_t bytes;			/* of this and its data, where it was allocated */
	bool in_frame;			/* of who runs it: gomp_task_keep() */
	unsigned int nesting;		/* in the frames of so many others; and GOMP_LOCKED */
	bool final;
	bool high;			/* of its priorities: before all that are not */
	bool constructed;		/* its data have a copy constructor's work, which it undoes */
	struct icv own_icv;		/* which icv points to; or to those of who waits for it */
	struct ivl_waiter orphaned;	/* its last child has ended, after itself */
};

struct team;
struct workshare;

/* A thread in a team; of each thread there is one outside of all teams, too. */
struct member {
	struct task *task;		/* that runs */
	struct team *team;		/* NULL: outside of any parallel region */
	unsigned int number;
	struct workshare *share;	/* the last that it has met; NULL: none */
	uint64_t taken;			/* static: chunks that it has had */
	uint64_t begin, end;		/* ordered and doacross: the chunk that it has */
	struct member *outer;		/* of the same thread, around this team */
	struct pool *pool;		/* the threads of regions; or NULL */
	struct member *pool_owner;	/* the regions that it begins use this one's pool */
	struct ivl_magazines tasks;	/* free blocks */
	bool plain;			/* it has a queue, and nothing can be cancelled */
	unsigned int queued_most;	/* of its tasks in its queue, before it runs new ones itself */
	unsigned int unreviewed;	/* how many more it queues before that is set again */
	atomic_uint stolen;		/* of those that it has queued since: run by others */
	struct workshare *spare;	/* free worksharing constructs */
	unsigned int spares;
	struct member *attached;	/* itself, or the outer member whose worker the thread is */
	struct ivl_external *external;
	struct task base;		/* the implicit task */
	unsigned int place;		/* where it is to be bound, plus 1; 0: nowhere */
	unsigned int bound;		/* where it is */
	unsigned int part, part_count;	/* place-partition-var: from where on, and how many */
	bool displayed;			/* OMP_DISPLAY_AFFINITY */
	atomic_uint *busy;		/* threads of its contention group, where there is a limit */
	unsigned int team_number, teams;	/* of the league */
};

struct barrier {
	_Alignas(GOMP_LINE) atomic_uint left;	/* who has not come */
	atomic_uint asleep;			/* who may be, at the word `phase` */
	_Alignas(GOMP_LINE) atomic_uint phase;	/* how often it was passed */
};

/*
 * Between regions the other threads still have its lines, and each that thread 0 writes they must
 * fetch, and it from them: it writes what has changed, by GOMP_RENEW(), and what is its own apart.
 */
struct team {
	unsigned int size;
	unsigned int level, active_level;
	bool serialized;			/* of one thread, inside of another region */
	bool undeferred;			/* its tasks are run by who creates them */
	void (*function)(void *);
	void *data;
	struct member **members;
	struct workshare *combined;	/* with the region, and so its first; NULL: none is */
	struct barrier barrier;
	struct barrier final;		/* at the end: a cancelled region has left the other */
	struct taskgroup tasks;		/* of all tasks in no other taskgroup */
	_Atomic(struct workshare *) first;	/* NULL: nobody has come to it */
	atomic_bool cancelled;
	/* The worksharing construct, up to its barrier; nowait ones before it are not meant. */
	atomic_bool share_cancelled;
	_Atomic(struct event *) discarded;	/* of tasks that were cancelled */
	/* At the end of this region and of the one before, in turn: see gomp_team_await_leaving(). */
	_Alignas(GOMP_LINE) atomic_uint waiting[2];
	/* Thread 0's own. */
	_Alignas(GOMP_LINE) unsigned int reserved;	/* counted in its contention group */
	unsigned int counted;		/* in gomp_threads: without the one of the region around it */
	bool placed;			/* its members have places */
};

static inline void gomp_reset(atomic_bool *flag)
{
	/* Relaxed: by the only one, between what orders it. */
	if (atomic_load_explicit(flag, memory_order_relaxed))
		atomic_store_explicit(flag, false, memory_order_relaxed);
}

#define GOMP_RENEW(what, value) \
	do { \
		if ((what) != (value)) \
			(what) = (value); \
	} while (0)

extern __thread struct member *gomp_self __attribute__((tls_model("initial-exec")));

/* member.c: that of a thread that is met for the first time. */
struct member *gomp_member_begin(void);

/* The calling thread's. */
static inline struct member *gomp_member(void)
{
	struct member *self = gomp_self;

	return __builtin_expect(self != NULL, 1) ? self : gomp_member_begin();
}

/* The task that runs holds one lock more, of which the program knows; or one less. */
static inline void gomp_note_locked(void)
{
	if (gomp_self)
		gomp_self->task->nesting += GOMP_LOCKED;
}

static inline void gomp_note_unlocked(void)
{
	if (gomp_self && gomp_self->task->nesting >= GOMP_LOCKED)
		gomp_self->task->nesting -= GOMP_LOCKED;
}

/*
 * Around a wait, in which other tasks run in this thread: they see whose worker it is. Where that
 * is not the caller, but a member around its light teams, it goes on with its own task, too. None
 * run while it waits for a lock, or holds one.
 */
struct gomp_waits {
	struct member *self;
	struct task *task, *attached_task;
	bool exclusive, before;		/* for ivl_attached_exclusive() */
};

static inline struct gomp_waits gomp_waits_begin(bool for_lock)
{
	struct member *self = gomp_member();
	const bool exclusive = for_lock || self->task->nesting >= GOMP_LOCKED;

	gomp_self = self->attached;
	return (struct gomp_waits){ self, self->task, self->attached->task, exclusive,
				    exclusive && ivl_attached_exclusive(true) };
}

static inline void gomp_waits_end(struct gomp_waits waits)
{
	if (__builtin_expect(waits.exclusive, 0))
		ivl_attached_exclusive(waits.before);
	gomp_self = waits.self;
	waits.self->attached->task = waits.attached_task;
	waits.self->task = waits.task;
}

/* team.c: the threads that a region gets, which begins now; `asked`: by num_threads, or 0. */
unsigned int gomp_team_size(struct member *self, unsigned int asked);
/*
 * A team, whose thread 0 the caller is from now on; what the others need may be added before
 * gomp_team_release() lets them begin. `bind`: of the clause; 0: none.
 */
struct team *gomp_team_begin(unsigned int size, unsigned int bind);
void gomp_team_release(struct team *team, void (*function)(void *), void *data);
/* All have ended, with all their tasks; the caller is who it was before. */
void gomp_team_end(void);
/* The caller is in a team whose tasks were run at once: from now on they may be queued. */
void gomp_team_queue_tasks(struct member *self);
/* Does anybody wait there? */
static inline bool gomp_team_leaves(const atomic_uint *waiting)
{
	/* Acquire: they have looked for tasks before. */
	return atomic_load_explicit(waiting, memory_order_acquire) != 0;
}

/* Who waits at the end of so many regions before this one, 0 or 1. */
static inline atomic_uint *gomp_team_waiting(struct team *team, unsigned int before)
{
	/* Relaxed: it changes between regions. */
	return &team->waiting[(atomic_load_explicit(&team->final.phase, memory_order_relaxed) -
			       before) & 1];
}

/*
 * Before a task is put where others may take it. Who still waits at the end of the region before
 * would run it without being in this one, as a thread that has not begun or has no part in it.
 */
void gomp_team_await_leaving(atomic_uint *waiting);
/* By who is about to run tasks at the end of a region, and does no more. */
void gomp_team_wait_begin(atomic_uint *waiting);
void gomp_team_wait_end(atomic_uint *waiting);
void gomp_parallel(void (*function)(void *), void *data, unsigned int asked, unsigned int flags);
/* The threads that the caller has for its regions end. */
void gomp_pool_end(struct member *self);

/* member.c: an implicit task. */
void gomp_base_begin(struct member *self, struct task *outer, const struct icv *icv);
/* The task's ICVs, to be changed by it. */
struct icv *gomp_icv_own(struct task *task);

/* barrier.c */
void gomp_barrier_init(struct barrier *barrier, unsigned int size);
/* All of the team have come, and its tasks have ended. True: it was cancelled, if it may be. */
void GOMP_barrier(void);
bool GOMP_barrier_cancel(void);
bool gomp_barrier_wait(struct member *self, struct barrier *barrier, bool cancellable);

/* The region's first construct is a loop; its share is nobody's yet. */
struct loop;
void gomp_team_first_loop(struct team *team, const struct loop *loop);

/* task.c: all that the group waits for have ended. */
void gomp_group_wait(struct taskgroup *taskgroup);
/* The caller's children have reported: after a barrier, when all have ended. */
void gomp_sync_children(struct task *task);

/* fatal.c: a message, and the end of the program. */
_Noreturn void gomp_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *gomp_allocate(size_t bytes);
void *gomp_allocate_aligned(size_t alignment, size_t bytes);

#define GOMP_PUBLIC __attribute__((visibility("default")))

#endif
