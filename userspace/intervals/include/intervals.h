/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * intervals: a task runtime whose tasks know when they run.
 *
 * An interval is the slice of program time in which a task runs: two points,
 * start and end, in a tree under a root. The program orders points by
 * happens-before edges and names the guards (locks) an interval holds; the
 * runtime finds out when each can run, and on which CPU. Beside that there are
 * the shapes most programs need: spawn and sync, finish and async, parallel_for.
 *
 * All names are in Documentation/intervals.rst. Functions that return int give 0
 * or an errno value. Functions marked [task] may only be called by code that the
 * runtime runs; the others by any thread. Code that spawns, syncs, joins or
 * waits leaves its thread to other tasks, and may go on in another thread: over
 * such a call it must not hold a lock that belongs to a thread (any pthread mutex
 * or rwlock), nor keep the address of a thread-local variable (ivl_errno()).
 */
#ifndef INTERVALS_H
#define INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup ivl_version_group Version
 *
 * The first number is that of the ABI: what was compiled with one header runs with every later
 * library of the same first number.
 * @{
 */
#define IVL_VERSION_MAJOR 1		/**< as in libintervals.so.1 */
#define IVL_VERSION_MINOR 0		/**< more with every addition */
#define IVL_VERSION_PATCH 0		/**< more with every correction */
/** One number, to compare: IVL_VERSION >= IVL_MAKE_VERSION(1, 2, 0) */
#define IVL_MAKE_VERSION(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
/** That of this header. */
#define IVL_VERSION IVL_MAKE_VERSION(IVL_VERSION_MAJOR, IVL_VERSION_MINOR, IVL_VERSION_PATCH)
/** In words. */
#define IVL_VERSION_STRING "1.0.0"
/** IVL_VERSION of the library that runs. Any thread. */
unsigned int ivl_version(void);
/** @} */

/** Workers, their queues and places. A process may have several at a time. */
typedef struct ivl_runtime ivl_runtime;
/** A task and the time in which it runs (thesis, section 1.1). Counted by references. */
typedef struct ivl_interval ivl_interval;
/** The start or the end of an interval; there as long as that is. */
typedef struct ivl_point ivl_point;
/** A lock that intervals hold, and no thread. */
typedef struct ivl_guard ivl_guard;
/** The thesis' PlaceID (Listing 4.2); owned by the runtime, valid until ivl_stop(). */
typedef struct ivl_place ivl_place;

/**
 * @defgroup ivl_starting Starting and stopping
 * @{
 */

/** The queue of each worker (thesis, chapters 9 and 10). */
enum ivl_queue {
	IVL_QUEUE_CHASE_LEV,		/**< dynamic circular deque; the default */
	IVL_QUEUE_LAZY,			/**< lazy deque (thesis, section 9.2) */
	IVL_QUEUE_IDEMPOTENT_LIFO,	/**< Michael, Vechev and Saraswat (PPoPP 2009) */
	IVL_QUEUE_IDEMPOTENT_FIFO,	/**< of the same paper: the owner takes the oldest, too */
	IVL_QUEUE_IDEMPOTENT_DEQUE,	/**< thesis, section 10.2 */
	IVL_QUEUE_DYNAMIC,		/**< Hendler's list of arrays (10.3.1) */
	IVL_QUEUE_DUPLICATING,		/**< of the Task Parallel Library (10.3.2) */
	IVL_QUEUE_SHARED,		/**< one queue for all workers */
	IVL_QUEUES			/**< how many there are */
};

/** Who goes on at a spawn or async (SLAW, section III). */
enum ivl_policy {
	IVL_ADAPTIVE,			/**< asyncs as SLAW chooses, spawns help-first */
	IVL_WORK_FIRST,			/**< the child, on a stack of its own */
	IVL_HELP_FIRST,			/**< the one who spawns */
	IVL_POLICIES			/**< how many there are */
};

/** Whom a worker without work tries to steal from. */
enum ivl_victims {
	IVL_VICTIMS_RANDOM,		/**< everybody, in random order */
	IVL_VICTIMS_THRESHOLD,		/**< (s, S) with a stealability mask (NUMA thesis, chapter 3) */
	IVL_VICTIMS_DOMAINS,		/**< nearest stealing domain first (NUMA thesis, chapter 4) */
	IVL_VICTIMS_DOMAINS_THRESHOLD,	/**< of both (NUMA thesis, algorithm 2) */
	IVL_VICTIM_POLICIES		/**< how many there are */
};

/** Which CPUs belong together (Documentation/intervals-places.rst). */
enum ivl_places_by {
	IVL_PLACES_ONE,			/**< all workers in one place */
	IVL_PLACES_NUMA,		/**< by the NUMA node whose memory is closest */
	IVL_PLACES_PACKAGE,		/**< by package */
	IVL_PLACES_LLC,			/**< by outermost cache */
	IVL_PLACES_GIVEN,		/**< config.place_cpus */
	IVL_PLACES_KINDS		/**< how many there are */
};

/**
 * What a runtime is like, from its start on. Set by ivl_config_init(), then changed.
 *
 * Later versions add fields, at the end alone. `size` says which ones the program knows: those
 * beyond it have their defaults.
 */
struct ivl_config {
	size_t size;			/**< sizeof(struct ivl_config) of the program, not the library */
	/**
	 * Up to 2^20. 0: as many as the process may use CPUs, or, where its cgroup has a quota of CPU
	 * time, as many as that is worth, rounded up. Where there are threads for fewer workers
	 * there are so many, and a line on standard error; see ivl_worker_count().
	 */
	unsigned int workers;
	enum ivl_queue queue;		/**< default: IVL_QUEUE_CHASE_LEV */
	enum ivl_policy policy;		/**< default: IVL_ADAPTIVE */
	enum ivl_victims victims;	/**< default: IVL_VICTIMS_RANDOM */
	enum ivl_places_by places;	/**< default: IVL_PLACES_NUMA */
	/** For IVL_PLACES_GIVEN: one list of CPUs per place, as in {"0-3", "4-7"}. */
	const char *const *place_cpus;
	unsigned int place_count;	/**< how many lists place_cpus has */
	/**
	 * Bind each worker to one CPU of its place; default: no. Then it is bound to all CPUs of
	 * its place, where there are several places and a worker in each.
	 */
	bool pin;
	bool cross_place;		/**< may a worker steal from another place? default: yes */
	bool steal_half;		/**< take half of the victim's queue, not one */
	bool statistics;		/**< count what ivl_statistics_read() tells */
	/**
	 * Of a fiber; 32768 or more, rounded up to pages. Default: 1 MiB; with less than 16 GiB of
	 * address space (RLIMIT_AS) 1/16384 of that, and 256 KiB at least.
	 */
	size_t stack_bytes;
	/**
	 * How many fibers there are of each worker before others are only made for work on
	 * which all that run may wait: a bound on memory, where the program keeps it. They are fewer
	 * where the kernel allows the process not twice as many mappings, or as much address space.
	 */
	unsigned int fibers_per_worker;
	unsigned int adapt_interval;	/**< SLAW's INT: tasks between two evaluations */
	unsigned int adapt_stack;	/**< SLAW's S: so deep, asyncs go help-first */
	unsigned int adapt_fresh;	/**< SLAW's F: with so many in the queue, work-first */
	unsigned int threshold_low;	/**< s of the mask: not stealable from s down */
	unsigned int threshold_high;	/**< S: stealable again from S on */
	unsigned int queue_capacity;	/**< elements at first; queues grow */
	uint64_t seed;			/**< of the choice of victims */
	/**
	 * Keep no more workers awake than had enough to do in the last 10 ms or so, for a machine on
	 * which other processes want the CPUs, too: A-STEAL (Agrawal, He and Leiserson, PPoPP
	 * 2007). Some work begins later. Threads in ivl_run_here() are not among them. Default: no.
	 */
	bool feedback;
	/**
	 * When all workers have been asleep for so many milliseconds, and each task that waits
	 * can be made to go on by other tasks alone, all of which wait, too: say on standard
	 * error, once, what waits for what. A task that waits for another runtime, for a
	 * condition variable or for a mutex of a thread's may be made to go on from outside: as
	 * long as there is one nothing is said. 0, the default: never.
	 */
	uint64_t deadlock_ms;
	/**
	 * A task that waits goes on in the thread in which it has waited, as a tied task of
	 * OpenMP: the address of a thread-local variable stays what it was. The variable's value
	 * is what the tasks have made of it that have run there meanwhile. Tasks are made
	 * help-first, also by ivl_async_by(); ivl_run_here() is ivl_run(). EINVAL with
	 * IVL_WORK_FIRST, whose spawner moves, and with `feedback`. Default: no.
	 */
	bool tied;
};

/**
 * The defaults, changed by the environment: INTERVALS_WORKERS=4, INTERVALS_QUEUE=lazy, ...
 * EINVAL: a variable has no such value (see ivl_last_error()).
 */
static inline int ivl_config_init(struct ivl_config *config);
/** As ivl_config_init(), which calls it, of a struct ivl_config that is `size` bytes long. */
int ivl_config_init_size(struct ivl_config *config, size_t size);
/* In the program, whose sizeof it is. */
static inline int ivl_config_init(struct ivl_config *config)
{
	return ivl_config_init_size(config, sizeof(*config));
}

/**
 * Start the workers. NULL: the defaults. EINVAL (see ivl_last_error()), ENOMEM, EAGAIN for
 * no thread, or fewer than places are given. Any thread, as often as you like. EINVAL, too, where config->size is not
 * ivl_config_init()'s, or the program is newer than the library and has set what that does
 * not know.
 */
int ivl_start(const struct ivl_config *config, ivl_runtime **runtime);

/**
 * Ends the workers. No task may be left: what ivl_run() started is over when it returns.
 * Another runtime's workers, or a thread of none, may still be in the call that made the
 * last task ready, as an unlock that handed it a mutex: that is waited for.
 * In the child of a fork(), which has no workers, the runtime's memory stays as it was: the
 * parent's may have been changing it.
 */
void ivl_stop(ivl_runtime *runtime);

/** The last error of this thread in words: of a refused edge with the names of both points. */
const char *ivl_last_error(void);

/** @} */

/**
 * @defgroup ivl_model Intervals, points, edges, guards
 * @{
 */

/**
 * What an interval does. A nonzero return is an error: dependents do not run (ivl_fail()).
 * It is ENOMEM, without a call, where there is no memory for a stack and all that runs waits;
 * ENOTRECOVERABLE where a C++ exception has left it. An exception must not leave any other
 * function that the runtime calls.
 */
typedef int ivl_body(ivl_interval *self, void *arg);

/**
 * Run a child interval of the root and wait for its end. Returns its error. May
 * be called by several threads at once, and by a task of another runtime. ESRCH: the
 * runtime was started before a fork() of which this process is the child.
 */
int ivl_run(ivl_runtime *runtime, ivl_body *body, void *arg);

/**
 * As ivl_run(), and until then the caller is a worker more: it begins the body itself, without
 * waking anybody, and runs whatever tasks there are, of others too. It returns when the interval
 * has ended and the task that it runs by then has ended or waits. A call of its own and no option
 * of the runtime, since it is for the calling thread to say: what it runs has its priority and
 * CPUs, and its signals, whose handlers run on the stack of a task; a thread that must not be held
 * up by others' tasks calls ivl_run(). Any number of threads at a time; by a task of any runtime,
 * which takes part where it is, it is ivl_run(). Where there is no memory to take part the caller
 * only waits.
 */
int ivl_run_here(ivl_runtime *runtime, ivl_body *body, void *arg);

/**
 * A new interval, which runs when its start is ready, but not before ivl_schedule().
 * Its end comes after the ends of all its subintervals; they may run beside its body.
 * The caller must be inside `parent` or inside an interval before its end, or have
 * made it and not scheduled it. It owns one reference (ivl_release()), which must not
 * outlive the runtime. NULL: ENOMEM, or EINVAL where the parent may have ended (see
 * ivl_last_error()). `name` is copied; NULL: none. NULL body: it only has subintervals.
 * [task] Thesis, section 1.1.
 */
ivl_interval *ivl_create(ivl_interval *parent, const char *name, ivl_body *body, void *arg,
			 const ivl_place *place);
/** One reference more, by who has one or runs inside of the interval. Any thread. */
void ivl_retain(ivl_interval *interval);
/** Give a reference back; the interval runs all the same. Any thread. */
void ivl_release(ivl_interval *interval);

ivl_interval *ivl_current(void);		/**< That of the caller. NULL: outside of any */
ivl_interval *ivl_parent(ivl_interval *interval);	/**< NULL: the root */
const char *ivl_name(const ivl_interval *interval);	/**< NULL: it has none */
ivl_point *ivl_start_point(ivl_interval *interval);	/**< Before its body */
ivl_point *ivl_end_point(ivl_interval *interval);	/**< After its body and subintervals */

/**
 * Let all that the calling task has created so far run, and what the spawned parts of
 * the current interval have; also done when its body returns. What a group's async creates after
 * that is scheduled at once. [task]
 */
void ivl_schedule(void);

/**
 * Run a child of the current interval now, and return when it has ended. Returns its
 * error, by which the current interval does not fail; EINVAL outside of any, and in one that has
 * ended (ivl_group_async()); ENOMEM. [task]
 */
int ivl_inline(const char *name, ivl_body *body, void *arg);

/**
 * A child of the current interval that may run from now on: a future, whose result is had by
 * ivl_join() of its end. Its error is for those who join it: the current interval does not fail by
 * it. The caller owns one reference. NULL: EINVAL, ENOMEM, as ivl_inline(). [task]
 */
ivl_interval *ivl_launch(const char *name, ivl_body *body, void *arg, const ivl_place *place);

/** Which of the intervals that are ready begin first. */
enum ivl_priority {
	IVL_PRIORITY_NORMAL,		/**< of all that is not set otherwise */
	IVL_PRIORITY_HIGH,		/**< before all that are normal */
	IVL_PRIORITIES			/**< how many there are */
};

/**
 * By who made the interval and has not scheduled it; else EALREADY: it may have started. EINVAL:
 * there is no such priority. [task]
 *
 * A worker that takes work, from its queue or another's, and may take an interval of high priority
 * that is ready, takes that first; of several at a place the one that was ready first. It looks
 * when a task has ended or waits, at each spawn and async, and before each eighth child in a sync of
 * several: then the task waits. What has begun is not interrupted otherwise, and goes on from a
 * wait as work of normal priority; so do its children. As long as there are intervals of high
 * priority no others begin.
 */
int ivl_set_priority(ivl_interval *interval, enum ivl_priority priority);

/**
 * `from` happens before `to`: what was written before `from` is seen after `to`.
 * `to` must be of an interval that the caller has made and not scheduled, or come
 * after the end of the current one, or be that; otherwise it may have occurred:
 * EALREADY. EDEADLK: it would close a cycle. EINVAL: two runtimes. ENOMEM. Where it
 * fails nothing has changed, and ivl_last_error() names both points. [task]
 */
int ivl_add_edge(ivl_point *from, ivl_point *to);
/**
 * Is there a path of edges, the tree's included, from one point to the other? Edges
 * are known up to where they come from has occurred: asked by a task that could make
 * one to `from`; otherwise only the tree is. False where there is no memory to look.
 */
bool ivl_happens_before(ivl_point *from, ivl_point *to);
/** Has it? Where it has, what was written before it is seen. Any thread. */
bool ivl_occurred(const ivl_point *point);

/**
 * Wait for a point, running other work meanwhile; returns its error, 0 where it has
 * none. EDEADLK: it waits for the caller, or for ivl_schedule() by the caller. That is not found
 * where a spawned child has made it, since other parts of the body may schedule it, too. ENOMEM:
 * there is not enough to find that out. Any thread.
 */
int ivl_join(ivl_point *point);

/**
 * The current interval fails: as if its body returned `error`, which is not 0, but it
 * goes on. An interval's first error counts. What comes after its end does not run,
 * and ends with that error; so do what is inside of it and has not begun, and what is
 * around all these, up to the common bound. [task]
 */
void ivl_fail(int error);
/**
 * What has not begun of the interval and its subintervals never will: ECANCELED. What
 * comes after its end does not run either; its parent does not fail. Any thread.
 */
void ivl_cancel(ivl_interval *interval);
bool ivl_cancelled(void);			/**< Is the current interval, or one around it? [task] */

/**
 * A lock that intervals hold from before their start to their end, given away in FIFO
 * order. An interval takes several in the order in which they were created. What
 * is inside of a holder holds it too, and takes it again against its siblings. NULL:
 * ENOMEM. It lives until it is released and nobody holds it. Any thread.
 */
ivl_guard *ivl_guard_create(ivl_runtime *runtime, const char *name);
/** Give back what ivl_guard_create() gave; holders and waiters keep it. Any thread. */
void ivl_guard_release(ivl_guard *guard);
/**
 * By who made the interval and has not scheduled it; else EALREADY: it may have
 * started. EBUSY: it has subintervals already. EDEADLK: an interval around it holds
 * one that was created later. EINVAL: of another runtime. ENOMEM. [task]
 */
int ivl_add_guard(ivl_interval *interval, ivl_guard *guard);
/**
 * An isolated region: run a child of the current interval that holds these guards, and return when it
 * has ended. Who waits for a guard leaves its worker to other tasks. Returns the child's error, by
 * which the current interval does not fail; or EINVAL, EDEADLK, ENOMEM, as ivl_add_guard() and
 * ivl_inline(), and the body was not called. [task]
 */
int ivl_isolated(ivl_guard *const *guards, size_t count, ivl_body *body, void *arg);
/** Does the current interval, or one it runs inside of, hold the guard? [task] */
bool ivl_holds(const ivl_guard *guard);

/** @} */

/**
 * @defgroup ivl_forkjoin Spawn and sync
 *
 * Nothing is allocated. Task and scope live in the caller's frame.
 * @{
 */

/** What a task does; `arg` is that of ivl_spawn(), ivl_async() or ivl_finish(). */
typedef void ivl_function(void *arg);

/** One child. Its fields are the runtime's. */
struct ivl_task {
	void *work[2];			/**< its place in a queue */
	ivl_function *function;		/**< of ivl_spawn() */
	void *arg;			/**< of ivl_spawn() */
	struct ivl_scope *scope;	/**< of ivl_spawn() */
	void *context[2];		/**< who spawned it */
};

/** The children that one function waits for together. Its fields are the runtime's. */
struct ivl_scope {
	int64_t elsewhere;		/**< children that will report to `left` */
	int64_t left;			/**< those waited for, minus those that have reported */
	void *waiter;			/**< who is in ivl_sync() */
	void *refused;			/**< children for which there was no stack */
};
/** A scope without children: `struct ivl_scope scope = IVL_SCOPE_INIT;` */
#define IVL_SCOPE_INIT { 0, 0, NULL, NULL }

/**
 * function(arg) may run at the same time as what follows, up to ivl_sync(). The
 * task must stay where it is until then. ENOMEM: it did not and will not run. [task]
 * A thread outside of any runtime may call it too: then the function is just called.
 */
int ivl_spawn(struct ivl_scope *scope, struct ivl_task *task, ivl_function *function, void *arg);
/**
 * Wait until all children have returned. By who spawned them. The scope can be used again.
 * It may run them itself, one after the other: none may wait for another one.
 */
void ivl_sync(struct ivl_scope *scope);

/** @} */

/**
 * @defgroup ivl_finish_async Finish, async, parallel_for
 *
 * Asyncs live as long as they need; a finish waits for those inside it, of asyncs
 * too (SLAW, section II-B).
 * @{
 */

/**
 * Call function(arg), and wait for the asyncs inside. They may be nested. 0, or what
 * ivl_group_cancel() was told of this finish first, or ENOMEM: there was no memory for the
 * stack of an async inside. After an error, asyncs inside that had not begun did not. [task]
 */
int ivl_finish(ivl_function *function, void *arg);
/**
 * function(arg) may run at the same time as what follows, up to the end of the
 * innermost finish. `bytes` of `arg` are copied. NULL place: the current one.
 * ENOMEM: it will not run. EINVAL: not inside a finish. [task]
 */
int ivl_async(ivl_function *function, const void *arg, size_t bytes, const ivl_place *place);
/**
 * As ivl_async(), by this policy and not the runtime's: SLAW's schedule clause, whose dyn is
 * IVL_ADAPTIVE. IVL_WORK_FIRST: the function is called before this returns, unless it is for
 * another place than the worker's, has more than 1024 bytes of arguments, or no fiber is left.
 * EINVAL, too: there is no such policy. [task]
 */
int ivl_async_by(enum ivl_policy policy, ivl_function *function, const void *arg, size_t bytes,
		 const ivl_place *place);

/**
 * Asyncs that are waited for together, as those of a finish; but not all that its function does
 * are in it, only what is started by ivl_group_async(), and the asyncs inside of these. Its fields
 * are the runtime's.
 */
struct ivl_group {
	int64_t left;			/**< asyncs, and who will wait for them */
	void *waiter;			/**< who is in ivl_group_wait() */
	ivl_interval *interval;		/**< the current one of its asyncs */
	int error;			/**< the first */
};
/** A group without asyncs: `struct ivl_group group = IVL_GROUP_INIT;` */
#define IVL_GROUP_INIT { 1, NULL, NULL, 0 }

/**
 * As ivl_async(), into a group: by who will wait for it, and before that, or by who is inside of
 * it. EINVAL: the caller is no task. [task]
 *
 * All asyncs of the group have the same current interval, that in which the first one was started,
 * from one wait to the next: what is started by a task inside, in an ivl_inline() of its own, may
 * last longer than that. Where the first one was, too, its interval may have ended: it is there,
 * and can have no more children (EINVAL).
 */
int ivl_group_async(struct ivl_group *group, ivl_function *function, const void *arg,
		    size_t bytes, const ivl_place *place);
/** As ivl_group_async(), by a policy, as ivl_async_by(). [task] */
int ivl_group_async_by(struct ivl_group *group, enum ivl_policy policy, ivl_function *function,
		       const void *arg, size_t bytes, const ivl_place *place);
/** Wait for all asyncs of the group. Its error, as ivl_finish(). It can be used again. [task] */
int ivl_group_wait(struct ivl_group *group);
/**
 * The group has failed with this error, which is not 0; its first one counts. Its asyncs that have
 * not begun never will, and new ones are none, and no error; those that run go on. By who will wait
 * for it or is inside of it.
 */
void ivl_group_cancel(struct ivl_group *group, int error);
/** The group's error so far: 0: none. To be asked by what runs long. By whom: as above. */
int ivl_group_error(struct ivl_group *group);
/** The innermost group or finish that the caller is inside of; NULL: none. [task] */
struct ivl_group *ivl_group_current(void);

/** What to do for the indices from `begin` up to, not including, `end`. */
typedef void ivl_range(size_t begin, size_t end, void *arg);
/**
 * Call body(begin, end, arg) for parts of a range, which together cover it, and
 * return when all have returned. A part is at most `grain` long; 0: chosen from the
 * workers' number. Where ivl_spawn() may be called.
 */
void ivl_parallel_for(size_t begin, size_t end, size_t grain, ivl_range *body, void *arg);
/**
 * The grain that 0 stands for in a range of so many: 8 to 16 parts for each worker of the caller's
 * runtime, or of one outside of any. Any thread.
 */
size_t ivl_grain(size_t count);

/** @} */

/**
 * @defgroup ivl_trying Children and loops that may fail
 *
 * As spawn and sync, and as ivl_parallel_for(), of functions that return 0 or an error. The first
 * error counts, and what has not begun then never will; what runs goes on.
 * @{
 */

/** What a child does. */
typedef int ivl_try(void *arg);
/** What to do for the indices from `begin` up to, not including, `end`. */
typedef int ivl_try_range(size_t begin, size_t end, void *arg);

/** The children that one function waits for together. Its fields are the runtime's. */
struct ivl_try_scope {
	struct ivl_scope scope;		/**< as theirs who cannot fail */
	int error;			/**< the first */
};
/** A scope without children: `struct ivl_try_scope scope = IVL_TRY_SCOPE_INIT;` */
#define IVL_TRY_SCOPE_INIT { IVL_SCOPE_INIT, 0 }

/** One child. Its fields are the runtime's. */
struct ivl_try_task {
	struct ivl_task task;		/**< as of one who cannot fail */
	struct ivl_try_scope *scope;	/**< of ivl_try_spawn() */
	ivl_try *function;		/**< of ivl_try_spawn() */
	void *arg;			/**< of ivl_try_spawn() */
};

/** As ivl_spawn(), whose ENOMEM it returns; not the child's error. [task] */
int ivl_try_spawn(struct ivl_try_scope *scope, struct ivl_try_task *task, ivl_try *function,
		  void *arg);
/** As ivl_sync(). The first error, which is forgotten: the scope can be used again. */
int ivl_try_sync(struct ivl_try_scope *scope);
/** As if a child had returned `error`, which is not 0. By who waits for it or is inside. */
void ivl_try_cancel(struct ivl_try_scope *scope, int error);
/** The error so far; 0: none. To be asked by what runs long. By whom: as above. */
int ivl_try_error(struct ivl_try_scope *scope);

/** As ivl_parallel_for(). Returns the first error. */
int ivl_try_for(size_t begin, size_t end, size_t grain, ivl_try_range *body, void *arg);

/** @} */

/**
 * @defgroup ivl_storage Per-task storage
 *
 * As pthread_key_create(), for tasks: values that go with a task wherever it goes on after a wait.
 * A task is what one call of its function does: of a spawned child, an async, the body of an
 * interval. It begins without values; those of its spawner are not its own. A part of a loop may be
 * run by the loop's caller, and then is its task.
 *
 * What it costs: nothing in a process that has no key. Where there is one each sync takes a slower
 * way, by which the end of a child is noticed; Documentation/intervals.rst has the measurement.
 * @{
 */

/** What values are found by: its address. Its fields are the runtime's. */
struct ivl_key {
	void (*destructor)(void *value);	/**< of ivl_key_init(); or NULL */
};

/**
 * Make it a key, which is there as long as any task has a value for it: mostly for ever. The
 * destructor, if any, is called with each value that is not NULL when the value's task has ended,
 * that of the last key that it began to use first, and may do what tasks do. It may set values again; after four times
 * of that these are lost. Any thread.
 */
void ivl_key_init(struct ivl_key *key, void (*destructor)(void *value));

/**
 * The calling task's value from now on; the one before is not destroyed. ENOMEM. EINVAL: outside of
 * any task. EBUSY: the task, or one that runs it in its ivl_sync(), began before the process had its
 * first key, so make keys before. NULL, of which there always is one, needs no memory. [task]
 */
int ivl_key_set(const struct ivl_key *key, void *value);
/** The calling task's value; NULL: it has set none. Any thread, which has none. */
void *ivl_key_get(const struct ivl_key *key);

/** @} */

/**
 * @defgroup ivl_thread_local_group Thread-local variables
 *
 * A compiler asks once in a function where a thread-local variable is, and keeps the address;
 * errno is such a variable. After a call by which the task goes on in another thread that is the
 * variable of the thread before. What is here asks each time. In a tied runtime (config.tied) no
 * task changes its thread.
 * @{
 */

/** errno of the thread in which the caller runs now. Any thread. */
int ivl_errno(void);
/** Sets it. Any thread. */
void ivl_set_errno(int value);

/**
 * Defines `type *name(void)`: where `variable` of the thread is in which the caller runs now.
 *
 *	static _Thread_local long hits;
 *	IVL_THREAD_LOCAL(long, my_hits, hits)
 *	...
 *	(*my_hits())++;
 *
 * What it returns is of no use behind the next call that may wait, nor around one in the same
 * expression: not `*my_hits() = f()` where f() waits.
 */
#define IVL_THREAD_LOCAL(type, name, variable) \
	IVL_NOT_SEEN_THROUGH static type *name(void) \
	{ \
		__asm__ volatile("" ::: "memory"); \
		return &(variable); \
	}

/** Of a function: the compiler knows nothing of what it does where it is called. */
#if defined(__GNUC__) && !defined(__clang__)
#define IVL_NOT_SEEN_THROUGH __attribute__((noipa, unused))
#else
#define IVL_NOT_SEEN_THROUGH __attribute__((noinline, unused))
#endif

/** @} */

/**
 * @defgroup ivl_places Places
 *
 * Thesis, sections 4.1, 4.2 and 7.2; Documentation/intervals-places.rst.
 *
 * What takes a place takes it as a hint: the workers of that place, or of any of the places
 * inside of it, look for the work first; with config.cross_place others may run it, too. A place
 * of another runtime is no hint, as NULL.
 * @{
 */

/** At least 1. Not counted: places around others. Any thread, as for all of these. */
unsigned int ivl_place_count(const ivl_runtime *runtime);
/** The place of that index, modulo the number of places, as in Listing 4.4. */
const ivl_place *ivl_place_at(const ivl_runtime *runtime, unsigned int index);
const ivl_place *ivl_here(void);		/**< That of the calling worker; NULL: none */
/** As in ivl_place_at(); ~0u: it is around others. */
unsigned int ivl_place_index(const ivl_place *place);
const char *ivl_place_name(const ivl_place *place);	/**< e.g. "numa-0" */
int ivl_place_node(const ivl_place *place);	/**< the OS' number of its NUMA node; -1: none */
/** The place around this one (a package around its caches); NULL: the machine. */
const ivl_place *ivl_place_outer(const ivl_place *place);
unsigned int ivl_worker_count(const ivl_runtime *runtime);	/**< In all places together */

/** @} */

/**
 * @defgroup ivl_statistics_group Statistics
 *
 * As in the thesis' Tables 11.1 to 11.3; all 0 where config.statistics is not set.
 * @{
 */

/**
 * Sums over all workers, since the start or ivl_statistics_reset(). Later versions add fields, at
 * the end alone.
 */
struct ivl_statistics {
	uint64_t puts;				/**< work made ready in the own queue */
	uint64_t takes;				/**< attempts to take from it */
	uint64_t take_failures;			/**< those that got nothing */
	uint64_t steals;			/**< attempts at one worker each */
	uint64_t steal_failures;		/**< those that got nothing */
	uint64_t steals_remote;			/**< of the steals: at another place's workers */
	uint64_t steal_failures_remote;		/**< of those, the ones that got nothing */
	uint64_t spawners;			/**< of the puts: those whose child runs first */
	uint64_t idles;				/**< times that a worker went to sleep */
	uint64_t wakes;				/**< times that one was woken for work */
	uint64_t mailbox;			/**< items that came through a mailbox */
	uint64_t fibers;			/**< stacks that were made */
	uint64_t quanta;			/**< of config.feedback: those that are over */
	uint64_t naps;				/**< of it: times that a worker left work waiting */
	uint64_t desire;			/**< of it: the workers wanted now; no sum */
};

/**
 * A worker's counts may be a moment old where it runs; what is a part of another count is never
 * more than that. Any thread.
 */
static inline void ivl_statistics_read(const ivl_runtime *runtime, struct ivl_statistics *sum);
/**
 * As ivl_statistics_read(), which calls it, into a struct ivl_statistics that is `size` bytes long:
 * the fields that fit. What the library does not know is 0.
 */
void ivl_statistics_read_size(const ivl_runtime *runtime, struct ivl_statistics *sum, size_t size);
/* In the program, whose sizeof it is. */
static inline void ivl_statistics_read(const ivl_runtime *runtime, struct ivl_statistics *sum)
{
	ivl_statistics_read_size(runtime, sum, sizeof(*sum));
}
/** Exact where no worker is awake; otherwise it may miss some counts. Any thread. */
void ivl_statistics_reset(ivl_runtime *runtime);

/**
 * @name Words
 * Those of the enumerations, as in the environment and in reports; NULL beyond the last.
 * @{
 */
const char *ivl_queue_name(enum ivl_queue queue);	/**< e.g. "chase-lev" */
const char *ivl_policy_name(enum ivl_policy policy);	/**< e.g. "work-first" */
const char *ivl_victims_name(enum ivl_victims victims);	/**< e.g. "domains" */
const char *ivl_places_name(enum ivl_places_by places);	/**< e.g. "numa" */
/** @} */

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
