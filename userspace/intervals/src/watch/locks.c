// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/locks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "watch/names.h"
#include "watch/watch.h"

/* Return addresses, innermost first. */
struct calls {
	void *from[IVL_LOCK_CALLS];
	int count;
};

/* A lock held by a task. */
struct held {
	const void *lock;
	const char *kind;
	const struct ivl_fiber *fiber;
	const char *task;
	pid_t thread;			/* of the owner */
	unsigned int depth;		/* recursion depth */
	struct calls locked, waited;
};

/* What is reported of a lock, once per place in the program where it is locked. */
enum { WAITS, MOVED, SHARED, FAULTS };
static const void *told[FAULTS][IVL_LOCKS_TOLD];

static struct held table[IVL_LOCKS_SEEN];
static unsigned int used;		/* entries in use, from the first on */
static _Atomic(unsigned int) count;	/* locks held now */
/* Not a pthread_mutex_t: the listener would hear of it. */
static _Atomic(bool) busy;
/* Inside this file, which may lock something itself. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static void enter(void)
{
	inside = true;
	while (atomic_exchange_explicit(&busy, true, memory_order_acquire))
		sched_yield();
}

static void leave(void)
{
	atomic_store_explicit(&busy, false, memory_order_release);
	inside = false;
}

/* False also when the table of places is full. */
static bool is_new(unsigned int fault, const struct held *held)
{
	const void *place = held->locked.from[0];

	for (unsigned int i = 0; i < IVL_LOCKS_TOLD && told[fault][i] != place; i++) {
		if (told[fault][i])
			continue;
		told[fault][i] = place;
		return true;
	}
	return false;
}

static void take_calls(struct calls *calls)
{
	calls->count = backtrace(calls->from, IVL_LOCK_CALLS);
}

/* Without the frames inside the call that returns to `caller`. */
static void take_calls_from(struct calls *calls, void *caller)
{
	int first = 0;

	take_calls(calls);
	while (first < calls->count && calls->from[first] != caller)
		first++;
	/* The caller is known, whatever the unwinder has found. */
	if (first == calls->count) {
		calls->from[0] = caller;
		calls->count = 1;
		return;
	}
	calls->count -= first;
	memmove(calls->from, calls->from + first, (size_t)calls->count * sizeof(*calls->from));
}

/* A function with which the library waits; it may be linked statically. */
static bool is_ours(const char *name)
{
	static const char *const ours[] = { "go_on_with", "suspend", "sync_children",
					    "sync_elsewhere", "sync_slowly", "sync_without_deque",
					    "wait_and_release", "wait_for" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!strcmp(name, ours[i]))
			return true;
	return !strncmp(name, "ivl_", strlen("ivl_"));
}

/* The innermost functions of the program, with addresses for addr2line. */
static void tell_calls(const struct calls *calls)
{
	int i = 0, told = 0;

	while (i < calls->count && is_ours(ivl_function_name((const char *)calls->from[i] - 1)))
		i++;
	for (; i < calls->count && told < IVL_LOCK_CALLS_TOLD; i++, told++) {
		const char *at = (const char *)calls->from[i] - 1, *name = ivl_function_name(at);
		const char *module;
		Dl_info where;

		if (is_ours(name) || !dladdr(at, &where) || !where.dli_fname)
			break;
		module = strrchr(where.dli_fname, '/');
		fprintf(stderr, "intervals:     %s (%s+0x%tx)\n", name,
			module ? module + 1 : where.dli_fname, at - (const char *)where.dli_fbase);
	}
}

static void tell_lock(const struct held *held)
{
	fprintf(stderr, "intervals:   %s %p, locked by thread %d in\n", held->kind, held->lock,
		held->thread);
	tell_calls(&held->locked);
}

static void tell_wait(const struct held *held)
{
	fprintf(stderr, "intervals:   waits in\n");
	tell_calls(&held->waited);
}

static void tell_waits(const struct held *held)
{
	flockfile(stderr);
	fprintf(stderr, "intervals: task %s waits while holding a lock of its thread:\n",
		held->task);
	tell_lock(held);
	tell_wait(held);
	fprintf(stderr, "intervals:   Other tasks run on the thread meanwhile, and this task may "
		"continue on another one. Unlock before, or use a guard or ivl_numa_mutex.\n");
	funlockfile(stderr);
}

static void tell_moved(const struct held *held)
{
	flockfile(stderr);
	fprintf(stderr, "intervals: task %s continues on another thread while holding a lock "
		"of the first:\n", held->task);
	tell_lock(held);
	tell_wait(held);
	funlockfile(stderr);
}

static void tell_shared(const struct held *held, const char *task)
{
	flockfile(stderr);
	fprintf(stderr, "intervals: task %s got a lock that the waiting task %s holds: both run "
		"on the thread that owns the lock\n", task, held->task);
	tell_lock(held);
	funlockfile(stderr);
}

/* The entry of this fiber, else of any. */
static struct held *find(const void *lock, const struct ivl_fiber *fiber)
{
	struct held *any = NULL;

	for (unsigned int i = 0; i < used; i++) {
		if (table[i].lock != lock)
			continue;
		if (table[i].fiber == fiber)
			return &table[i];
		any = &table[i];
	}
	return any;
}

/* NULL: the table is full. */
static struct held *add(const void *lock)
{
	unsigned int i = 0;

	while (i < used && table[i].lock)
		i++;
	if (i == IVL_LOCKS_SEEN)
		return NULL;
	if (i == used)
		used++;
	atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
	table[i] = (struct held){ .lock = lock, .depth = 1 };
	return &table[i];
}

static void locked(const void *lock, const char *kind, void *caller)
{
	struct ivl_worker *worker = ivl_self();
	const struct ivl_watched *task;
	struct ivl_fiber *fiber;
	struct held *held;

	if (inside || !worker || worker->fiber == &worker->base || !worker->fiber->watched)
		return;
	/* OpenMP ties a task to its thread, and decides what it may lock. */
	if (worker->runtime->threadless)
		return;
	fiber = worker->fiber;
	task = fiber->watched;
	enter();
	held = find(lock, fiber);
	if (held && held->fiber == fiber) {
		held->depth++;
		leave();
		return;
	}
	/* A waiter in the kernel blocks its thread, so only a lock of this thread is shared. */
	if (held && held->thread == gettid() && !strncmp(kind, "recursive", strlen("recursive")) &&
	    is_new(SHARED, held))
		tell_shared(held, task->name);
	held = add(lock);
	if (held) {
		held->kind = kind;
		held->fiber = fiber;
		held->task = task->name;
		held->thread = gettid();
		take_calls_from(&held->locked, caller);
	}
	leave();
}

static void unlocked(const void *lock)
{
	struct ivl_worker *worker = ivl_self();
	struct held *held;

	if (inside || !atomic_load_explicit(&count, memory_order_relaxed))
		return;
	enter();
	held = find(lock, worker ? worker->fiber : NULL);
	if (held && !--held->depth) {
		held->lock = NULL;
		atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
	}
	leave();
}

__attribute__((noinline)) void ivl_locks_wait(const struct ivl_fiber *fiber)
{
	if (!atomic_load_explicit(&count, memory_order_relaxed))
		return;
	enter();
	for (unsigned int i = 0; i < used; i++) {
		struct held *held = &table[i];

		if (!held->lock || held->fiber != fiber)
			continue;
		take_calls_from(&held->waited, __builtin_return_address(0));
		if (is_new(WAITS, held))
			tell_waits(held);
	}
	leave();
}

void ivl_locks_go_on(const struct ivl_fiber *fiber)
{
	const pid_t thread = atomic_load_explicit(&count, memory_order_relaxed) ? gettid() : 0;

	if (!thread)
		return;
	enter();
	for (unsigned int i = 0; i < used; i++) {
		struct held *held = &table[i];

		if (held->lock && held->fiber == fiber && held->thread != thread &&
		    is_new(MOVED, held))
			tell_moved(held);
	}
	leave();
}

/* The debug library keeps calling it: never unload it. */
static void stay_loaded(void)
{
	Dl_info own;

	if (dladdr(table, &own) && own.dli_fname)
		dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool ivl_locks_start(void)
{
	static struct ivl_lock_listener listener = { .locked = locked, .unlocked = unlocked };
	static _Atomic(bool) listens;
	void (*listen)(struct ivl_lock_listener *listener);
	struct calls calls;

	listen = (void (*)(struct ivl_lock_listener *))dlsym(RTLD_DEFAULT, "ivl_debug_listen");
	if (!listen)
		return false;
	if (!atomic_exchange(&listens, true)) {
		stay_loaded();
		/* The first backtrace() loads a library. */
		take_calls(&calls);
		listen(&listener);
	}
	return true;
}

void ivl_locks_forget(void)
{
	memset(table, 0, sizeof(table));
	used = 0;
	atomic_store(&count, 0);
	atomic_store(&busy, false);
	inside = false;
}
