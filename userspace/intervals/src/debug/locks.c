// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The debug library, to be preloaded or linked before the C library: the functions that lock
 * pthread objects. Each tells the runtimes of the process and calls the C library's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "atomics.h"
#include "watch/locks.h"

#pragma GCC visibility push(default)

static _Atomic(struct ivl_lock_listener *) listeners;

void ivl_debug_listen(struct ivl_lock_listener *listener)
{
	listener->next = atomic_load_explicit(&listeners, memory_order_relaxed);
	/* Release, to first(). */
	while (!atomic_compare_exchange_weak_explicit(&listeners, &listener->next, listener,
						      memory_order_release, memory_order_relaxed))
		;
}

static struct ivl_lock_listener *first(void)
{
	return atomic_load_explicit(&listeners, memory_order_acquire);
}

/* Reports a success; returns `result`. */
static int tell(int result, const void *lock, const char *kind, void *caller)
{
	if (!result || result == EOWNERDEAD)
		for (struct ivl_lock_listener *it = first(); it; it = it->next)
			it->locked(lock, kind, caller);
	return result;
}

static void tell_unlocked(const void *lock)
{
	for (struct ivl_lock_listener *it = first(); it; it = it->next)
		it->unlocked(lock);
}

static const char *kind_of(const pthread_mutex_t *mutex)
{
	switch (mutex->__data.__kind & 3) {
	case PTHREAD_MUTEX_RECURSIVE_NP:
		return "recursive mutex";
	case PTHREAD_MUTEX_ERRORCHECK_NP:
		return "error-checking mutex";
	}
	return "mutex";
}

/* The C library's function. Concurrent callers find the same. */
#define NEXT(name) ({ \
	static _Atomic(void *) next_; \
	void *found_ = atomic_load_explicit(&next_, memory_order_relaxed); \
	if (!found_) { \
		found_ = dlsym(RTLD_NEXT, #name); \
		atomic_store_explicit(&next_, found_, memory_order_relaxed); \
	} \
	(__typeof__(&name))found_; \
})

#define LOCKS(name, kind, parameters, ...) \
	int name parameters \
	{ \
		return tell(NEXT(name)(__VA_ARGS__), lock, kind, __builtin_return_address(0)); \
	}

#define UNLOCKS(name, type) \
	int name(type *lock) \
	{ \
		tell_unlocked(lock); \
		return NEXT(name)(lock); \
	}

#define MUTEX_LOCKS(name, parameters, ...) \
	LOCKS(name, kind_of(lock), parameters, __VA_ARGS__)
MUTEX_LOCKS(pthread_mutex_lock, (pthread_mutex_t *lock), lock)
MUTEX_LOCKS(pthread_mutex_trylock, (pthread_mutex_t *lock), lock)
MUTEX_LOCKS(pthread_mutex_timedlock,
	    (pthread_mutex_t *restrict lock, const struct timespec *restrict time), lock, time)
MUTEX_LOCKS(pthread_mutex_clocklock,
	    (pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict time),
	    lock, clock, time)
UNLOCKS(pthread_mutex_unlock, pthread_mutex_t)

#define RWLOCK_LOCKS(how, kind) \
	LOCKS(pthread_rwlock_##how, kind, (pthread_rwlock_t *lock), lock)
RWLOCK_LOCKS(rdlock, "rwlock, for reading,")
RWLOCK_LOCKS(wrlock, "rwlock, for writing,")
RWLOCK_LOCKS(tryrdlock, "rwlock, for reading,")
RWLOCK_LOCKS(trywrlock, "rwlock, for writing,")

#define RWLOCK_LOCKS_UNTIL(how, kind) \
	LOCKS(pthread_rwlock_timed##how, kind, \
	      (pthread_rwlock_t *restrict lock, const struct timespec *restrict time), lock, time) \
	LOCKS(pthread_rwlock_clock##how, kind, \
	      (pthread_rwlock_t *restrict lock, clockid_t clock, \
	       const struct timespec *restrict time), lock, clock, time)
RWLOCK_LOCKS_UNTIL(rdlock, "rwlock, for reading,")
RWLOCK_LOCKS_UNTIL(wrlock, "rwlock, for writing,")
UNLOCKS(pthread_rwlock_unlock, pthread_rwlock_t)

#pragma GCC visibility pop
