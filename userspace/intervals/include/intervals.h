/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * intervals: a task runtime with happens-before edges between tasks.
 *
 * An interval is the span of time in which a task runs. It has two points, its start and its end,
 * and is a node of a tree of intervals. The program adds happens-before edges between points and
 * names the guards (locks) that an interval holds; the runtime decides when and on which CPU each
 * interval runs. Spawn and sync, finish and async, and parallel_for cover the common patterns.
 *
 * All names are explained in Documentation/reference.rst. Functions that return int return 0 or an
 * errno value. Functions marked [task] may only be called by code that the runtime runs; all others
 * may be called by any thread. A task that spawns, syncs, joins or waits gives its thread to other
 * tasks and may continue on another thread. It must not hold a lock that belongs to a thread (a
 * pthread mutex or rwlock) over such a call, nor keep the address of a thread-local variable (see
 * ivl_errno()).
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
 * The major number is that of the ABI: a program compiled with one header runs with every later
 * library of the same major number.
 * @{
 */
#define IVL_VERSION_MAJOR 1		/**< as in libintervals.so.1 */
#define IVL_VERSION_MINOR 0		/**< incremented with each addition */
#define IVL_VERSION_PATCH 0		/**< incremented with each fix */
/** A version as one number: IVL_VERSION >= IVL_MAKE_VERSION(1, 2, 0) */
#define IVL_MAKE_VERSION(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
/** The version of this header. */
#define IVL_VERSION IVL_MAKE_VERSION(IVL_VERSION_MAJOR, IVL_VERSION_MINOR, IVL_VERSION_PATCH)
/** The same as a string. */
#define IVL_VERSION_STRING "1.0.0"
/** IVL_VERSION of the library that the program runs with. Any thread. */
unsigned int ivl_version(void);
/** @} */

/** Workers, their queues and places. A process may have several runtimes at a time. */
typedef struct ivl_runtime ivl_runtime;
/** A task and the time in which it runs (thesis, section 1.1). Reference-counted. */
typedef struct ivl_interval ivl_interval;
/** The start or the end of an interval; exists as long as the interval. */
typedef struct ivl_point ivl_point;
/** A lock held by intervals, not by threads. */
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
	IVL_QUEUE_IDEMPOTENT_FIFO,	/**< from the same paper: the owner takes the oldest, too */
	IVL_QUEUE_IDEMPOTENT_DEQUE,	/**< thesis, section 10.2 */
	IVL_QUEUE_DYNAMIC,		/**< Hendler's list of arrays (10.3.1) */
	IVL_QUEUE_DUPLICATING,		/**< from the Task Parallel Library (10.3.2) */
	IVL_QUEUE_SHARED,		/**< one queue for all workers */
	IVL_QUEUES			/**< number of values */
};

/** Whether the child or its spawner runs first at a spawn or async (SLAW, section III). */
enum ivl_policy {
	IVL_ADAPTIVE,			/**< asyncs as SLAW chooses, spawns help-first */
	IVL_WORK_FIRST,			/**< the child, on a stack of its own */
	IVL_HELP_FIRST,			/**< the spawner */
	IVL_POLICIES			/**< number of values */
};

/** How a worker without work chooses the worker to steal from. */
enum ivl_victims {
	IVL_VICTIMS_RANDOM,		/**< all workers, in random order */
	IVL_VICTIMS_THRESHOLD,		/**< (s, S) with a stealability mask (NUMA thesis, chapter 3) */
	IVL_VICTIMS_DOMAINS,		/**< nearest stealing domain first (NUMA thesis, chapter 4) */
	IVL_VICTIMS_DOMAINS_THRESHOLD,	/**< both (NUMA thesis, algorithm 2) */
	IVL_VICTIM_POLICIES		/**< number of values */
};

/** Which CPUs belong together (Documentation/reference.rst). */
enum ivl_places_by {
	IVL_PLACES_ONE,			/**< all workers in one place */
	IVL_PLACES_NUMA,		/**< by the NUMA node whose memory is closest */
	IVL_PLACES_PACKAGE,		/**< by package */
	IVL_PLACES_LLC,			/**< by outermost cache */
	IVL_PLACES_GIVEN,		/**< config.place_cpus */
	IVL_PLACES_KINDS		/**< number of values */
};

/**
 * The options of a runtime. Initialize it by ivl_config_init(), then change fields.
 *
 * Later versions add fields, at the end only. `size` says which fields the program knows; fields
 * beyond it have their defaults.
 */
struct ivl_config {
	size_t size;			/**< sizeof(struct ivl_config) in the program */
	/**
	 * At most 2^20. 0: one for each CPU that the process may use; with a CPU quota in its
	 * cgroup, as many as the quota is worth, rounded up. If fewer threads can be started, the
	 * runtime has fewer workers and says so on standard error; see ivl_worker_count().
	 */
	unsigned int workers;
	enum ivl_queue queue;		/**< default: IVL_QUEUE_CHASE_LEV */
	enum ivl_policy policy;		/**< default: IVL_ADAPTIVE */
	enum ivl_victims victims;	/**< default: IVL_VICTIMS_RANDOM */
	enum ivl_places_by places;	/**< default: IVL_PLACES_NUMA */
	/** For IVL_PLACES_GIVEN: one list of CPUs per place, as in {"0-3", "4-7"}. */
	const char *const *place_cpus;
	unsigned int place_count;	/**< number of lists in place_cpus */
	/**
	 * Bind each worker to one CPU of its place. Default: no. Without it, workers are bound to
	 * all CPUs of their place if there are several places with a worker in each.
	 */
	bool pin;
	bool cross_place;		/**< may a worker steal from another place? default: yes */
	bool steal_half;		/**< steal half of the victim's queue instead of one item */
	bool statistics;		/**< count the events of struct ivl_statistics */
	/**
	 * Stack size of a fiber; at least 32768, rounded up to pages. Default: 1 MiB; with less
	 * than 16 GiB of address space (RLIMIT_AS) 1/16384 of that, and at least 256 KiB.
	 */
	size_t stack_bytes;
	/**
	 * Fibers per worker beyond which a new one is only made for work on which all running tasks
	 * may wait. This bounds memory if the program allows it. The limit is lower where the
	 * kernel does not permit the process twice as many mappings, or as much address space.
	 */
	unsigned int fibers_per_worker;
	unsigned int adapt_interval;	/**< SLAW's INT: tasks between two evaluations */
	unsigned int adapt_stack;	/**< SLAW's S: at this depth, asyncs become help-first */
	unsigned int adapt_fresh;	/**< SLAW's F: work-first at this queue length */
	unsigned int threshold_low;	/**< s of the mask: not stealable at s or fewer */
	unsigned int threshold_high;	/**< S: stealable again at S or more */
	unsigned int queue_capacity;	/**< initial number of elements; queues grow */
	uint64_t seed;			/**< for the choice of victims */
	/**
	 * Keep only as many workers awake as had enough to do in the last 10 ms or so, for a
	 * machine whose CPUs other processes want, too: A-STEAL (Agrawal, He and Leiserson, PPoPP
	 * 2007). Some work begins later. Threads in ivl_run_here() are not counted. Default: no.
	 */
	bool feedback;
	/**
	 * Report a deadlock: if all workers have been asleep for this many milliseconds, and every
	 * waiting task waits for other tasks that wait as well, print the waits and what they are
	 * for on standard error, once. Nothing is reported while a task waits for another runtime,
	 * a condition variable, or a mutex owned by a thread, since these may be released from
	 * outside. 0, the default: never.
	 */
	uint64_t deadlock_ms;
	/**
	 * A task resumes on the thread on which it waited, as a tied task of OpenMP, so that the
	 * address of a thread-local variable stays the same; other tasks on that thread may change
	 * its value meanwhile. Tasks are created help-first, by ivl_async_by() as well, and
	 * ivl_run_here() is ivl_run(). EINVAL with IVL_WORK_FIRST, which moves the spawner, and
	 * with `feedback`. Default: no.
	 */
	bool tied;
	/**
	 * Microseconds that a worker without work searches for some before it sleeps; 0: it looks
	 * once. Default: as long as a wake-up takes, measured when the workers start (5 to 50).
	 */
	uint64_t search_us;
};

/** The default of config.search_us. */
#define IVL_SEARCH_MEASURED UINT32_MAX

/**
 * The defaults, changed by the environment: INTERVALS_WORKERS=4, INTERVALS_QUEUE=lazy, ... EINVAL:
 * a variable has an unknown value (see ivl_last_error()).
 */
static inline int ivl_config_init(struct ivl_config *config);
/** The library's part of ivl_config_init(), for a struct ivl_config of `size` bytes. */
int ivl_config_init_size(struct ivl_config *config, size_t size);
/* Inline, so that sizeof is the program's. */
static inline int ivl_config_init(struct ivl_config *config)
{
	return ivl_config_init_size(config, sizeof(*config));
}

/**
 * Start the workers. NULL: the defaults. EINVAL (see ivl_last_error()); ENOMEM; EAGAIN: no thread
 * could be started, or fewer than there are places given. EINVAL also if config->size was not set
 * by ivl_config_init(), or the program is newer than the library and has set a field that the
 * library does not know. Any thread, any number of times.
 */
int ivl_start(const struct ivl_config *config, ivl_runtime **runtime);

/**
 * Stop the workers. No task may be left: everything started by ivl_run() has ended when that
 * returns, and what ivl_submit() has started is waited for. ivl_stop() also waits for a thread
 * outside of this runtime that is still in the call which made its last task ready, such as an
 * unlock that passed on a mutex. In the child of a fork(), which has no workers, the runtime's
 * memory is not freed: the parent's threads may have been changing it.
 */
void ivl_stop(ivl_runtime *runtime);

/**
 * The process's runtime, which its libraries share: started by the first call, with the defaults
 * and the environment's changes. A forked child has one of its own. It ends with the process:
 * ivl_stop() does nothing to it. NULL: as ivl_start(). Any thread.
 */
ivl_runtime *ivl_default(void);

/** The calling thread's last error as text; for a refused edge, with the names of both points. */
const char *ivl_last_error(void);

/** @} */

/**
 * @defgroup ivl_model Intervals, points, edges, guards
 * @{
 */

/**
 * The body of an interval. A nonzero return value is an error: dependents do not run (see
 * ivl_fail()). The result is ENOMEM, without a call, if there is no memory for a stack and
 * everything that runs waits; ENOTRECOVERABLE if a C++ exception has left the body. An exception
 * must not leave any other function that the runtime calls.
 */
typedef int ivl_body(ivl_interval *self, void *arg);

/**
 * Run a child interval of the root and wait for its end. Returns its error. Several threads may
 * call it at once, and so may a task of another runtime. ESRCH: the runtime was started before a
 * fork() of which this process is the child.
 */
int ivl_run(ivl_runtime *runtime, ivl_body *body, void *arg);

/**
 * As ivl_run(), and the calling thread is one more worker until it returns: it begins the body
 * itself, without waking a worker, and runs any available tasks, including those of other callers.
 * It returns when the interval has ended and the task that it runs at that time has ended or waits.
 *
 * This is a function and not an option of the runtime, since it affects the calling thread: tasks
 * run with its priority and CPU affinity, and its signal handlers run on a task's stack. A thread
 * that must not be delayed by other tasks calls ivl_run(). Any number of threads may be in it at a
 * time. Called by a task of any runtime, or without memory for a worker, it is ivl_run().
 */
int ivl_run_here(ivl_runtime *runtime, ivl_body *body, void *arg);

/**
 * Hand work over without waiting: create a child of the root that may run at once. ivl_join() of
 * its end returns its error, and ivl_stop() waits for its end. The caller owns one reference to
 * `*interval` (see ivl_release()); NULL: none is wanted. ESRCH, as ivl_run(); ENOMEM. Any thread.
 */
int ivl_submit(ivl_runtime *runtime, ivl_body *body, void *arg, const ivl_place *place,
	       ivl_interval **interval);

/**
 * Create an interval, which runs when its start is ready, but not before ivl_schedule(). Its end
 * comes after the ends of all its subintervals, which may run at the same time as its body. The
 * caller must be inside `parent`, or inside an interval that comes before the end of `parent`, or
 * must have created `parent` and not scheduled it. It owns one reference (see ivl_release()), which
 * must not outlive the runtime. NULL: ENOMEM, or EINVAL if the parent may have ended (see
 * ivl_last_error()). `name` is copied; NULL: no name. NULL body: the interval only has
 * subintervals. [task] Thesis, section 1.1.
 */
ivl_interval *ivl_create(ivl_interval *parent, const char *name, ivl_body *body, void *arg,
			 const ivl_place *place);
/** Take another reference. The caller must have one or run inside of the interval. Any thread. */
void ivl_retain(ivl_interval *interval);
/** Drop a reference; the interval runs in any case. Any thread. */
void ivl_release(ivl_interval *interval);

ivl_interval *ivl_current(void);		/**< The caller's; NULL: outside of any */
ivl_interval *ivl_parent(ivl_interval *interval);	/**< NULL: it is the root */
const char *ivl_name(const ivl_interval *interval);	/**< NULL: no name */
ivl_point *ivl_start_point(ivl_interval *interval);	/**< Before its body */
ivl_point *ivl_end_point(ivl_interval *interval);	/**< After its body and subintervals */

/**
 * Allow everything that the calling task has created so far to run, and what the spawned parts of
 * the current interval have created. The return of the interval's body does the same. What an async
 * of a group creates after the body has returned is scheduled at once. [task]
 */
void ivl_schedule(void);

/**
 * Run a child of the current interval now and return when it has ended. Returns its error, which
 * does not make the current interval fail; EINVAL outside of any interval, and in one that has
 * ended (see ivl_group_async()); ENOMEM. [task]
 */
int ivl_inline(const char *name, ivl_body *body, void *arg);

/**
 * Create a child of the current interval that may run at once: a future, whose result ivl_join() of
 * its end returns. Its error is returned by the join and does not make the current interval fail.
 * The caller owns one reference. NULL: EINVAL, ENOMEM, as ivl_inline(). [task]
 */
ivl_interval *ivl_launch(const char *name, ivl_body *body, void *arg, const ivl_place *place);

/** Which of the ready intervals begin first. */
enum ivl_priority {
	IVL_PRIORITY_NORMAL,		/**< the default */
	IVL_PRIORITY_HIGH,		/**< before all normal ones */
	IVL_PRIORITIES			/**< number of values */
};

/**
 * Set the priority of an interval that the caller has created and not scheduled; else EALREADY: it
 * may have started. EINVAL: no such priority. [task]
 *
 * A worker about to take work, its own or stolen, first takes a ready interval of high priority
 * that it may run; of several at a place, the one that became ready first. It looks for one
 * whenever a task has ended or waits, at each spawn and async, and before each eighth child in a
 * sync of several children, in which case the task waits. A task that has begun is not interrupted
 * otherwise. It continues from a wait as work of normal priority, and so do its children. While
 * there are intervals of high priority, no normal ones begin.
 */
int ivl_set_priority(ivl_interval *interval, enum ivl_priority priority);

/**
 * `from` happens before `to`: what was written before `from` is visible after `to`. `to` must
 * belong to an interval that the caller has created and not scheduled, or come after the end of the
 * current interval, or be that end; otherwise it may have occurred: EALREADY. EDEADLK: the edge
 * would close a cycle. EINVAL: the points belong to two runtimes. ENOMEM. A failed call changes
 * nothing, and ivl_last_error() names both points. [task]
 */
int ivl_add_edge(ivl_point *from, ivl_point *to);
/**
 * Is there a path of edges, including those of the tree, from one point to the other? Edges are
 * known until the point they start from has occurred, and only to a task that could add an edge to
 * `from`; for other callers only the tree is searched. False if there is no memory for the search.
 */
bool ivl_happens_before(ivl_point *from, ivl_point *to);
/** Has the point occurred? If so, what was written before it is visible. Any thread. */
bool ivl_occurred(const ivl_point *point);

/**
 * Wait for a point, running other work meanwhile. Returns the point's error or 0. EDEADLK: the
 * point waits for the caller, or for the caller's ivl_schedule(). This is not detected for a point
 * created by a spawned child, since other parts of the body may schedule it. ENOMEM: not enough
 * memory to detect it. Any thread.
 */
int ivl_join(ivl_point *point);

/**
 * Make the current interval fail, as if its body returned `error`, which is not 0; the body
 * continues. The first error of an interval counts. What comes after its end does not run and ends
 * with that error. Neither does anything inside of it that has not begun, nor the intervals around
 * the failed ones, up to their common bound. [task]
 */
void ivl_fail(int error);
/**
 * Cancel the interval: those parts of it and its subintervals that have not begun never run:
 * ECANCELED. What comes after its end does not run either; its parent does not fail. Any thread.
 */
void ivl_cancel(ivl_interval *interval);
bool ivl_cancelled(void);			/**< Is it or one around it cancelled? [task] */

/**
 * Create a lock that intervals hold from before their start to their end, granted in FIFO order. An
 * interval takes several guards in the order in which they were created. Intervals inside of a
 * holder hold the guard, too, and take it again to exclude their siblings. NULL: ENOMEM. It exists
 * until it is released and no interval holds it. Any thread.
 */
ivl_guard *ivl_guard_create(ivl_runtime *runtime, const char *name);
/** Drop the reference of ivl_guard_create(); holders and waiters keep the guard. Any thread. */
void ivl_guard_release(ivl_guard *guard);
/**
 * Add a guard to an interval that the caller has created and not scheduled; else EALREADY: it may
 * have started. EBUSY: it has subintervals already. EDEADLK: an enclosing interval holds a guard
 * created later. EINVAL: the guard is of another runtime. ENOMEM. [task]
 */
int ivl_add_guard(ivl_interval *interval, ivl_guard *guard);
/**
 * An isolated region: run a child of the current interval that holds these guards, and return when
 * it has ended. While it waits for a guard, the worker runs other tasks. Returns the child's error,
 * which does not make the current interval fail; or, without a call of the body, EINVAL, EDEADLK or
 * ENOMEM as ivl_add_guard() and ivl_inline(). [task]
 */
int ivl_isolated(ivl_guard *const *guards, size_t count, ivl_body *body, void *arg);
/** Does the current interval or an enclosing one hold the guard? [task] */
bool ivl_holds(const ivl_guard *guard);

/** @} */

/**
 * @defgroup ivl_forkjoin Spawn and sync
 * Nothing is allocated: task and scope are in the caller's frame.
 * @{
 */

/** The function of a task; `arg` is that of ivl_spawn(), ivl_async() or ivl_finish(). */
typedef void ivl_function(void *arg);

/** One child. The fields are private to the runtime. */
struct ivl_task {
	void *work[2];			/**< link in a queue */
	ivl_function *function;		/**< of ivl_spawn() */
	void *arg;			/**< of ivl_spawn() */
	struct ivl_scope *scope;	/**< of ivl_spawn() */
	void *context[2];		/**< the spawner */
};

/** The children that one function waits for together. The fields are private to the runtime. */
struct ivl_scope {
	int64_t elsewhere;		/**< children that will decrement `left` */
	int64_t left;			/**< children waited for, minus those that have ended */
	void *waiter;			/**< the task in ivl_sync() */
	void *refused;			/**< children for which there was no stack */
};
/** A scope without children: `struct ivl_scope scope = IVL_SCOPE_INIT;` */
#define IVL_SCOPE_INIT { 0, 0, NULL, NULL }

/**
 * Run function(arg), possibly at the same time as what follows, up to ivl_sync(). The task must not
 * be moved until then. ENOMEM: it did not run and will not. [task] A thread outside of any runtime
 * may call it, too: the function is then called directly.
 */
int ivl_spawn(struct ivl_scope *scope, struct ivl_task *task, ivl_function *function, void *arg);
/**
 * Wait until all children of the scope have returned. Called by the task that spawned them, which
 * may run them itself, one after another, so none may wait for another. The scope can be used
 * again.
 */
void ivl_sync(struct ivl_scope *scope);

/** @} */

/**
 * @defgroup ivl_finish_async Finish, async, parallel_for
 * An async may outlive the task that started it; a finish waits for all asyncs inside of it,
 * including those started by other asyncs (SLAW, section II-B).
 * @{
 */

/**
 * Call function(arg) and wait for all asyncs inside. Finishes may be nested. Returns 0, or the
 * first error given to ivl_group_cancel() for this finish, or ENOMEM: there was no memory for the
 * stack of an async inside. After an error, asyncs inside that have not begun do not run. [task]
 */
int ivl_finish(ivl_function *function, void *arg);
/**
 * Run function(arg), possibly at the same time as what follows, up to the end of the innermost
 * finish. `bytes` of `arg` are copied. NULL place: the current one. ENOMEM: it will not run.
 * EINVAL: not inside of a finish. [task]
 */
int ivl_async(ivl_function *function, const void *arg, size_t bytes, const ivl_place *place);
/**
 * As ivl_async(), by the given policy instead of the runtime's: SLAW's schedule clause, whose dyn
 * is IVL_ADAPTIVE. IVL_WORK_FIRST: the function is called before this returns, unless it is for
 * another place than the worker's, has more than 1024 bytes of arguments, or no fiber is left.
 * EINVAL also: no such policy. [task]
 */
int ivl_async_by(enum ivl_policy policy, ivl_function *function, const void *arg, size_t bytes,
		 const ivl_place *place);

/**
 * Asyncs that are waited for together, as those of a finish. A group contains only those started by
 * ivl_group_async(), and the asyncs inside of them. The fields are private to the runtime.
 */
struct ivl_group {
	int64_t left;			/**< unfinished asyncs, plus one for the waiter */
	void *waiter;			/**< the task in ivl_group_wait() */
	ivl_interval *interval;		/**< current interval of its asyncs */
	int error;			/**< first error */
};
/** A group without asyncs: `struct ivl_group group = IVL_GROUP_INIT;` */
#define IVL_GROUP_INIT { 1, NULL, NULL, 0 }

/**
 * Start an async in a group. The caller is inside of the group, or is the task that will wait for
 * it and has not begun to; or the thread, outside of any runtime: then the async is of
 * ivl_default(), by help-first, and in no interval. Otherwise as ivl_async(). EAGAIN: there is no
 * ivl_default().
 *
 * Until the next wait, all asyncs of the group have the same current interval: that in which the
 * first was started. An async that is started in an ivl_inline() of a task inside may outlive that
 * ivl_inline(). If the first was started in such an interval, it may have ended: it can still be
 * used, but not have more children (EINVAL).
 */
int ivl_group_async(struct ivl_group *group, ivl_function *function, const void *arg,
		    size_t bytes, const ivl_place *place);
/** As ivl_group_async(), by a policy as in ivl_async_by(). */
int ivl_group_async_by(struct ivl_group *group, enum ivl_policy policy, ivl_function *function,
		       const void *arg, size_t bytes, const ivl_place *place);
/**
 * Wait for all asyncs of the group. Returns its error, as ivl_finish(). The group can be used
 * again. The caller is a task, or the thread outside that has started the asyncs.
 */
int ivl_group_wait(struct ivl_group *group);
/**
 * Set the error of the group, which is not 0; the first one counts. Its asyncs that have not begun
 * never run, and new ones are dropped without an error; running ones continue. Called by the task
 * that will wait for the group or by a task inside.
 */
void ivl_group_cancel(struct ivl_group *group, int error);
/** The error of the group so far, or 0; for long-running tasks to poll. Callers as above. */
int ivl_group_error(struct ivl_group *group);
/** The innermost group or finish that the caller is inside of; NULL: none. [task] */
struct ivl_group *ivl_group_current(void);

/** Handles the indices from `begin` up to, not including, `end`. */
typedef void ivl_range(size_t begin, size_t end, void *arg);
/**
 * Call body(begin, end, arg) for parts that together cover the range, and return when all calls
 * have returned. A part has at most `grain` indices; 0: chosen by the number of workers. Any
 * thread: one outside of any runtime takes part in ivl_default(), as by ivl_run_here(), if there is
 * more than one part.
 */
void ivl_parallel_for(size_t begin, size_t end, size_t grain, ivl_range *body, void *arg);
/**
 * The grain that 0 stands for in a range of `count` indices: 8 to 16 parts for each worker of the
 * caller's runtime, or 64 to 128 of at least 4096; outside of any, for one worker. Any thread.
 */
size_t ivl_grain(size_t count);

/** @} */

/**
 * @defgroup ivl_trying Children and loops that may fail
 * As spawn and sync, and as ivl_parallel_for(), for functions that return 0 or an error. The first
 * error counts. After it, parts that have not begun never run, and running ones continue.
 * @{
 */

/** The function of a child. */
typedef int ivl_try(void *arg);
/** Handles the indices from `begin` up to, not including, `end`. */
typedef int ivl_try_range(size_t begin, size_t end, void *arg);

/** The children that one function waits for together. The fields are private to the runtime. */
struct ivl_try_scope {
	struct ivl_scope scope;		/**< scope of the underlying ivl_spawn() */
	int error;			/**< first error */
};
/** A scope without children: `struct ivl_try_scope scope = IVL_TRY_SCOPE_INIT;` */
#define IVL_TRY_SCOPE_INIT { IVL_SCOPE_INIT, 0 }

/** One child. The fields are private to the runtime. */
struct ivl_try_task {
	struct ivl_task task;		/**< task of the underlying ivl_spawn() */
	struct ivl_try_scope *scope;	/**< of ivl_try_spawn() */
	ivl_try *function;		/**< of ivl_try_spawn() */
	void *arg;			/**< of ivl_try_spawn() */
};

/** As ivl_spawn(). Returns ENOMEM as that does, never the child's error. [task] */
int ivl_try_spawn(struct ivl_try_scope *scope, struct ivl_try_task *task, ivl_try *function,
		  void *arg);
/** As ivl_sync(). Returns the first error and clears it: the scope can be used again. */
int ivl_try_sync(struct ivl_try_scope *scope);
/**
 * Act as if a child had returned `error`, which is not 0. Called by the task that waits for the
 * scope or by a child.
 */
void ivl_try_cancel(struct ivl_try_scope *scope, int error);
/** The error so far, or 0; for long-running children to poll. Callers as above. */
int ivl_try_error(struct ivl_try_scope *scope);

/** As ivl_parallel_for(). Returns the first error. */
int ivl_try_for(size_t begin, size_t end, size_t grain, ivl_try_range *body, void *arg);

/** @} */

/**
 * @defgroup ivl_storage Per-task storage
 * As pthread_key_create(), for tasks: values that follow a task from thread to thread. A task is
 * one call of its function: of a spawned child, an async, or the body of an interval. It begins
 * without values and does not inherit those of its spawner. A part of a loop may be run by the
 * loop's caller, and then belongs to the caller's task.
 *
 * This costs nothing in a process without keys. With a key, each sync takes a slower path, which
 * detects the end of a child; Documentation/results.rst has the measurement.
 * @{
 */

/** A key is identified by its address. The fields are private to the runtime. */
struct ivl_key {
	void (*destructor)(void *value);	/**< of ivl_key_init(); or NULL */
};

/**
 * Initialize a key. It must exist as long as any task has a value for it: usually it is static.
 * When a task has ended, the destructor, if any, is called with each of the task's values that is
 * not NULL, in the reverse order of the keys' first use by the task. It may do what tasks do and
 * set values again; values set in the fourth such round are lost. Any thread.
 */
void ivl_key_init(struct ivl_key *key, void (*destructor)(void *value));

/**
 * Set the calling task's value; the previous one is not destroyed. ENOMEM. EINVAL: outside of any
 * task. EBUSY: the task, or a task that runs it in its ivl_sync(), began before the process had its
 * first key; so create keys early. NULL, the initial value, needs no memory. [task]
 */
int ivl_key_set(const struct ivl_key *key, void *value);
/** The calling task's value; NULL: not set. Any thread; NULL outside of tasks. */
void *ivl_key_get(const struct ivl_key *key);

/** @} */

/**
 * @defgroup ivl_thread_local_group Thread-local variables
 * A compiler may look up the address of a thread-local variable, such as errno, once per function
 * and keep it. After a call in which the task moves to another thread, that address belongs to the
 * previous thread. These functions look it up each time. In a tied runtime (config.tied) no task
 * moves to another thread.
 * @{
 */

/** errno of the thread on which the caller runs now. Any thread. */
int ivl_errno(void);
/** Set it. Any thread. */
void ivl_set_errno(int value);

/**
 * Define `type *name(void)`, which returns the address of `variable` for the thread on which the
 * caller runs now.
 *
 *	static _Thread_local long hits;
 *	IVL_THREAD_LOCAL(long, my_hits, hits)
 *	...
 *	(*my_hits())++;
 *
 * The address is not valid after the next call that may wait, nor around one in the same
 * expression: not `*my_hits() = f()` where f() waits.
 */
#define IVL_THREAD_LOCAL(type, name, variable) \
	IVL_NOT_SEEN_THROUGH static type *name(void) \
	{ \
		__asm__ volatile("" ::: "memory"); \
		return &(variable); \
	}

/** A function whose effects the compiler cannot see in its callers. */
#if defined(__GNUC__) && !defined(__clang__)
#define IVL_NOT_SEEN_THROUGH __attribute__((noipa, unused))
#else
#define IVL_NOT_SEEN_THROUGH __attribute__((noinline, unused))
#endif

/** @} */

/**
 * @defgroup ivl_places Places
 * Thesis, sections 4.1, 4.2 and 7.2; Documentation/reference.rst.
 *
 * A place given to a function is a hint: the workers of that place, and of places inside of it,
 * look for the work first; with config.cross_place other workers may run it, too. A place of
 * another runtime, like NULL, gives no hint.
 * @{
 */

/** Number of innermost places, at least 1. Any thread, as for all functions of this section. */
unsigned int ivl_place_count(const ivl_runtime *runtime);
/** The place of that index, modulo the number of places, as in Listing 4.4. */
const ivl_place *ivl_place_at(const ivl_runtime *runtime, unsigned int index);
const ivl_place *ivl_here(void);		/**< The calling worker's; NULL: none */
/** Index for ivl_place_at(); ~0u: the place contains other places. */
unsigned int ivl_place_index(const ivl_place *place);
const char *ivl_place_name(const ivl_place *place);	/**< e.g. "numa-0" */
int ivl_place_node(const ivl_place *place);	/**< the OS's number of its NUMA node; -1: none */
/** The place around this one (a package around its caches); NULL: the whole machine. */
const ivl_place *ivl_place_outer(const ivl_place *place);
unsigned int ivl_worker_count(const ivl_runtime *runtime);	/**< In all places together */

/** @} */

/**
 * @defgroup ivl_statistics_group Statistics
 * As in the thesis' Tables 11.1 to 11.3; all 0 unless config.statistics is set.
 * @{
 */

/**
 * Sums over all workers since the start or the last ivl_statistics_reset(). Later versions add
 * fields, at the end only.
 */
struct ivl_statistics {
	uint64_t puts;				/**< items put into the worker's own queue */
	uint64_t takes;				/**< attempts to take from it */
	uint64_t take_failures;			/**< takes that found nothing */
	uint64_t steals;			/**< attempts to steal, one victim each */
	uint64_t steal_failures;		/**< steals that found nothing */
	uint64_t steals_remote;			/**< steals from workers of other places */
	uint64_t steal_failures_remote;		/**< failed ones of these */
	uint64_t spawners;			/**< puts of a spawner whose child runs first */
	uint64_t idles;				/**< times a worker went to sleep */
	uint64_t wakes;				/**< times one was woken for work */
	uint64_t mailbox;			/**< items received through a mailbox */
	uint64_t fibers;			/**< stacks created */
	uint64_t quanta;			/**< of feedback: quanta ended */
	uint64_t naps;				/**< of feedback: times a worker left work */
	uint64_t desire;			/**< of feedback: workers wanted now; not a sum */
};

/**
 * The counts of a running worker may be slightly out of date, but a count that is a part of another
 * is never greater than it. Any thread.
 */
static inline void ivl_statistics_read(const ivl_runtime *runtime, struct ivl_statistics *sum);
/**
 * The library's part of ivl_statistics_read(), for a struct ivl_statistics of `size` bytes: fills
 * the fields that fit. Fields unknown to the library become 0.
 */
void ivl_statistics_read_size(const ivl_runtime *runtime, struct ivl_statistics *sum, size_t size);
/* Inline, so that sizeof is the program's. */
static inline void ivl_statistics_read(const ivl_runtime *runtime, struct ivl_statistics *sum)
{
	ivl_statistics_read_size(runtime, sum, sizeof(*sum));
}
/** Exact if no worker is awake; otherwise some counts may be missed. Any thread. */
void ivl_statistics_reset(ivl_runtime *runtime);

/**
 * @name Words
 * The names of the values, as in the environment and in reports; NULL beyond the last value.
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
