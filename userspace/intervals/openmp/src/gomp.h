/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GNU OpenMP ABI on the intervals runtime: declarations shared by libintervals-gomp.
 *
 * A *team* is a threadless runtime, to which the team's threads attach (attach.h). Each thread that
 * begins parallel regions has one, which grows and is reused.
 *
 * An *implicit task* is the base of a worker: the region's code runs on its thread's own stack.
 * Compiled code keeps addresses of threadprivate variables (ELF TLS) across calls, so an implicit
 * task must stay in its thread, and the thread that begins a region must be number 0 of it. At a
 * barrier the base waits and runs tasks, each on a fiber.
 *
 * An *explicit task* is a child spawned into its parent's scope. Taskwait is a sync, which runs a
 * child that was not stolen as a call. A stolen child runs on a fiber of the thief and, when it
 * waits, resumes in that thread only: all tasks are tied. A waiting task leaves its thread to other
 * tasks. But a task that waits for a lock (critical, ordered, doacross), or holds one while it
 * waits, waits exclusively: its thread does nothing else while another can
 * (ivl_attached_exclusive()).
 *
 * A *taskgroup*, and the team itself for its barriers, is a group of the runtime, which counts each
 * task. Workers count ahead, so that tasks do not share a line that all write.
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

/* Internal control variables of a task's data environment (OpenMP 5.0, 2.5). */
struct icv {
	unsigned int threads;		/* nthreads-var */
	unsigned int level_in_list;	/* levels of OMP_NUM_THREADS used up */
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
	bool workshare;			/* of a worksharing construct, for its reductions */
	atomic_bool cancelled;
};

/*
 * Added to task.nesting for each lock held by the task or by one in whose frame it runs: tasks that
 * they create may take it, too, and are not run in their frames.
 */
#define GOMP_LOCKED 0x10000u

struct task {
	struct ivl_task spawned;
	struct ivl_scope scope;		/* its children */
	struct task *parent;
	struct taskgroup *taskgroup;	/* innermost around new children; NULL: none */
	struct icv *icv;
	void (*function)(void *);
	void *data;
	struct depends *depends;	/* of its children; NULL: none */
	struct node *node;		/* its own dependences; NULL: none */
	struct event *event;		/* detach; NULL: none */
	struct member *creator;		/* in whose queue it was put */
	size_t bytes;			/* with its data, if allocated */
	bool in_frame;			/* in its caller's frame: gomp_task_keep() */
	unsigned int nesting;		/* enclosing tasks in the same stack; plus GOMP_LOCKED */
	bool final;
	bool high;			/* priority */
	bool constructed;		/* its data were copy-constructed: the body must run */
	struct icv own_icv;		/* target of `icv`, also for undeferred children */
	struct ivl_waiter orphaned;	/* for the end of its last child, after its own */
};

struct team;
struct workshare;

/* A thread in a team, or outside of all teams. */
struct member {
	struct task *task;		/* running */
	struct team *team;		/* NULL: outside of parallel regions */
	unsigned int number;
	struct workshare *share;	/* last one entered; NULL: none */
	uint64_t taken;			/* static schedule: chunks taken */
	uint64_t begin, end;		/* ordered and doacross: present chunk */
	struct member *outer;		/* of the same thread, in the enclosing team */
	struct pool *pool;		/* threads for its regions, or NULL */
	struct member *pool_owner;	/* the member whose pool its regions use */
	struct ivl_magazines tasks;	/* free blocks */
	bool plain;			/* it has a queue, and cancellation is off */
	unsigned int queued_most;	/* queue length from which on it runs new tasks itself */
	unsigned int unreviewed;	/* tasks to queue before that is reviewed */
	atomic_uint stolen;		/* tasks of the queue that other threads ran since */
	struct workshare *spare;	/* free worksharing constructs */
	unsigned int spares;
	struct member *attached;	/* itself, or the outer member whose worker the thread is */
	struct ivl_external *external;
	struct task base;		/* the implicit task */
	unsigned int place;		/* to be bound to, plus 1; 0: none */
	unsigned int bound;		/* bound to now */
	unsigned int part, part_count;	/* place-partition-var: begin and length */
	bool displayed;			/* OMP_DISPLAY_AFFINITY */
	atomic_uint *busy;		/* threads of a limited contention group */
	unsigned int team_number, teams;	/* of the league */
};

struct barrier {
	_Alignas(GOMP_LINE) atomic_uint left;	/* threads that have not come */
	atomic_uint asleep;			/* threads that may sleep on `phase` */
	_Alignas(GOMP_LINE) atomic_uint phase;	/* times passed */
};

/*
 * Between regions other threads have its lines cached, and each line that thread 0 writes costs
 * transfers: it writes only changes (GOMP_RENEW()), and its own data apart.
 */
struct team {
	unsigned int size;
	unsigned int level, active_level;
	bool serialized;			/* of one thread, in another region */
	bool undeferred;			/* its tasks run at their creation */
	void (*function)(void *);
	void *data;
	struct member **members;
	struct workshare *combined;	/* combined with the region, its first; NULL: none */
	struct barrier barrier;
	struct barrier final;		/* at the end, apart from cancelled ones */
	struct taskgroup tasks;		/* all tasks without a taskgroup */
	_Atomic(struct workshare *) first;	/* NULL: not entered */
	atomic_bool cancelled;
	/* Of the worksharing construct before the next barrier, without earlier nowait ones. */
	atomic_bool share_cancelled;
	_Atomic(struct event *) discarded;	/* of cancelled tasks */
	/*
	 * Waiters at the end of this and the previous region, by turns: see
	 * gomp_team_await_leaving().
	 */
	_Alignas(GOMP_LINE) atomic_uint waiting[2];
	/* Thread 0's own. */
	_Alignas(GOMP_LINE) unsigned int reserved;	/* counted in its contention group */
	unsigned int counted;		/* in gomp_threads, without the enclosing region's thread */
	bool placed;			/* its members have places */
};

static inline void gomp_reset(atomic_bool *flag)
{
	/* Relaxed: there is one writer, and other accesses order it. */
	if (atomic_load_explicit(flag, memory_order_relaxed))
		atomic_store_explicit(flag, false, memory_order_relaxed);
}

#define GOMP_RENEW(what, value) \
	do { \
		if ((what) != (value)) \
			(what) = (value); \
	} while (0)

extern __thread struct member *gomp_self __attribute__((tls_model("initial-exec")));

/* member.c: for a thread's first call. */
struct member *gomp_member_begin(void);

/* The calling thread's. */
static inline struct member *gomp_member(void)
{
	struct member *self = gomp_self;

	return __builtin_expect(self != NULL, 1) ? self : gomp_member_begin();
}

/* The running task has locked or unlocked one lock of the program. */
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
 * Around a wait in which the thread runs other tasks: for these, the thread is the attached member,
 * whose own task is restored afterwards. No tasks run while the caller waits for a lock or holds
 * one.
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

/* team.c: size of a new region; `asked`: num_threads, or 0. */
unsigned int gomp_team_size(struct member *self, unsigned int asked);
/*
 * Begin a team with the caller as thread 0. The other threads start in gomp_team_release(). `bind`:
 * of the clause; 0: none.
 */
struct team *gomp_team_begin(unsigned int size, unsigned int bind);
void gomp_team_release(struct team *team, void (*function)(void *), void *data);
/* Waits for all threads and tasks; the caller is its outer member again. */
void gomp_team_end(void);
/* From now on the tasks of the caller's serialized team may be queued. */
void gomp_team_queue_tasks(struct member *self);
/* Is any thread waiting there? */
static inline bool gomp_team_leaves(const atomic_uint *waiting)
{
	/* Acquire: these threads have looked for tasks before. */
	return atomic_load_explicit(waiting, memory_order_acquire) != 0;
}

/* Waiters at the end of the region `before` (0 or 1) regions ago. */
static inline atomic_uint *gomp_team_waiting(struct team *team, unsigned int before)
{
	/* Relaxed: it changes between regions. */
	return &team->waiting[(atomic_load_explicit(&team->final.phase, memory_order_relaxed) -
			       before) & 1];
}

/*
 * Call before publishing a task. A thread that still waits at the end of the previous region would
 * run it without being in this one.
 */
void gomp_team_await_leaving(atomic_uint *waiting);
/* Around running tasks at the end of a region. */
void gomp_team_wait_begin(atomic_uint *waiting);
void gomp_team_wait_end(atomic_uint *waiting);
void gomp_parallel(void (*function)(void *), void *data, unsigned int asked, unsigned int flags);
/* End the threads of the caller's regions. */
void gomp_pool_end(struct member *self);

/* member.c: begin an implicit task. */
void gomp_base_begin(struct member *self, struct task *outer, const struct icv *icv);
/* The task's own ICVs, to be changed. */
struct icv *gomp_icv_own(struct task *task);

/* barrier.c */
void gomp_barrier_init(struct barrier *barrier, unsigned int size);
/* Returns when all threads have come and all tasks have ended. True: cancelled. */
void GOMP_barrier(void);
bool GOMP_barrier_cancel(void);
bool gomp_barrier_wait(struct member *self, struct barrier *barrier, bool cancellable);

/* The region's first construct is a loop. */
struct loop;
void gomp_team_first_loop(struct team *team, const struct loop *loop);

/* task.c: wait for all tasks of the group. */
void gomp_group_wait(struct taskgroup *taskgroup);
/* Collect the children's reports after a barrier. */
void gomp_sync_children(struct task *task);

/* fatal.c: print a message and exit. */
_Noreturn void gomp_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *gomp_allocate(size_t bytes);
void *gomp_allocate_aligned(size_t alignment, size_t bytes);

#define GOMP_PUBLIC __attribute__((visibility("default")))
/* A function without arguments that only returns a value. */
#define GOMP_QUERY(name, value) \
	GOMP_PUBLIC int name(void) \
	{ \
		return (int)(value); \
	}

#endif
