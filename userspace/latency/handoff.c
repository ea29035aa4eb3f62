// SPDX-License-Identifier: GPL-2.0
/*
 * The library that fast-latency preloads into a program: it stands before the C
 * library's mutexes and takes the time of their hand-offs.
 *
 * A hand-off begins before a thread releases a mutex, in pthread_mutex_unlock() or a
 * wait on a condition variable, and ends after another thread has it, if that thread
 * had begun to wait before the release. A thread that begins later, polls, or returns
 * from a condition variable has no hand-off.
 *
 * The record of a mutex is in an entry that only the holder touches, so the entry needs
 * no lock of its own. But it is a cache line that moves with each hand-off, and the clock
 * is read within the critical section. So the run has other times and counters than the
 * program alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shared.h"

#define EXPORTED __attribute__((visibility("default")))

/* glibc sets it in __data.__kind of a mutex that several processes use. */
#define KIND_SHARED 128

#define NOT_WAITING UINT64_MAX
#define PROBES 64u
#define PATIENCE_NS 1000000000u

static struct shared *shared;
static uint32_t process;

static int (*real_lock)(pthread_mutex_t *);
static int (*real_trylock)(pthread_mutex_t *);
static int (*real_timedlock)(pthread_mutex_t *, const struct timespec *);
static int (*real_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
static int (*real_unlock)(pthread_mutex_t *);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
			     const struct timespec *);

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/*
 * Condition variables have an older form under the same names, which dlsym() may find.
 * The newer form has a version, which differs between x86-64 and other architectures.
 */
static void *find_newer(const char *name)
{
	void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	return found ? found : find(name);
}

/* Before main() there is one thread; other libraries' constructors may lock earlier than ours. */
static void resolve(void)
{
	if (real_unlock)
		return;
	real_lock = find("pthread_mutex_lock");
	real_trylock = find("pthread_mutex_trylock");
	real_timedlock = find("pthread_mutex_timedlock");
	real_clocklock = find("pthread_mutex_clocklock");
	real_wait = find_newer("pthread_cond_wait");
	real_timedwait = find_newer("pthread_cond_timedwait");
	real_clockwait = find("pthread_cond_clockwait");
	real_unlock = find("pthread_mutex_unlock");
}

static void join(void)
{
	process = __atomic_add_fetch(&shared->processes, 1, __ATOMIC_RELAXED);
}

/* A shell may have put a file of its own in the descriptor's place. */
static void *map(int fd)
{
	if (fcntl(fd, F_GET_SEALS) != SHARED_SEALS)
		return MAP_FAILED;
	return mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void *find_memory(const char *path)
{
	const char *slash = strrchr(path, '/');
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *memory = map(fd);

	if (fd >= 0)
		close(fd);
	/* Another user may not open it, and another /proc does not have it. */
	if (memory == MAP_FAILED && slash)
		memory = map(atoi(slash + 1));
	return memory;
}

__attribute__((constructor)) static void attach(void)
{
	const char *path = getenv(SHARED_VARIABLE);
	void *memory = path ? find_memory(path) : MAP_FAILED;

	resolve();
	if (memory == MAP_FAILED)
		return;
	shared = memory;
	join();
	/* A child without exec() has the parent's addresses, and other mutexes there. */
	pthread_atfork(NULL, NULL, join);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t own_handoffs(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < SHARED_LOCKS; i++) {
		const struct shared_lock *lock = &shared->locks[i];

		if (lock->key >> SHARED_ADDRESS_BITS == process)
			sum += lock->handoffs;
	}
	return sum;
}

static void leave_maps(uint64_t handoffs)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t n;

	if (fd < 0)
		return;
	while ((n = read(fd, shared->maps + size, SHARED_MAPS - 1 - size)) > 0)
		size += (size_t)n;
	close(fd);
	shared->maps[size] = '\0';
	shared->maps_process = process;
	shared->maps_handoffs = handoffs;
}

/* A thread that was killed while it held the lock never releases it. */
static bool lock_maps(void)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (__atomic_exchange_n(&shared->maps_lock, 1, __ATOMIC_ACQUIRE)) {
		if (now_ns() > until)
			return false;
		usleep(100);
	}
	return true;
}

__attribute__((destructor)) static void detach(void)
{
	uint64_t handoffs = shared ? own_handoffs() : 0;

	if (!handoffs || !lock_maps())
		return;
	if (handoffs > shared->maps_handoffs)
		leave_maps(handoffs);
	__atomic_store_n(&shared->maps_lock, 0, __ATOMIC_RELEASE);
}

/* True if the entry is the lock's, by this call or an earlier one. */
static bool claim(struct shared_lock *lock, uint64_t key)
{
	uint64_t found = __atomic_load_n(&lock->key, __ATOMIC_RELAXED);

	if (!found && __atomic_compare_exchange_n(&lock->key, &found, key, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return true;
	return found == key;
}

/* NULL: this mutex is not followed. */
static struct shared_lock *entry(const pthread_mutex_t *mutex)
{
	uint64_t key = shared_key(process, mutex);
	uint64_t hash = key * 0x9e3779b97f4a7c15;

	if (!shared || process > SHARED_PROCESSES)
		return NULL;
	if (mutex->__data.__kind & KIND_SHARED) {
		__atomic_store_n(&shared->of_several, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	for (unsigned int i = 0; i < PROBES; i++) {
		struct shared_lock *lock = &shared->locks[((hash >> 32) + i) % SHARED_LOCKS];

		if (claim(lock, key))
			return lock;
	}
	__atomic_store_n(&shared->no_room, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void released(struct shared_lock *lock)
{
	if (lock)
		__atomic_store_n(&lock->released_ns, now_ns(), __ATOMIC_RELAXED);
}

/* A thread that has waited since before the release is not the releasing thread. */
static void acquired(struct shared_lock *lock, uint64_t since_ns)
{
	uint64_t released_ns;

	if (!lock)
		return;
	released_ns = __atomic_load_n(&lock->released_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&lock->released_ns, 0, __ATOMIC_RELAXED);
	if (since_ns >= released_ns || !__atomic_load_n(&shared->measuring, __ATOMIC_RELAXED))
		return;
	histogram_add(&shared->handoff, now_ns() - released_ns);
	lock->handoffs++;
}

/* After a lock function and after a wait; the error goes on to the caller. */
static int locked(struct shared_lock *lock, uint64_t since_ns, int error)
{
	if (!error || error == EOWNERDEAD)
		acquired(lock, since_ns);
	return error;
}

static int waited(struct shared_lock *lock, int error)
{
	acquired(lock, NOT_WAITING);
	return error;
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct shared_lock *lock = entry(mutex);
	uint64_t since_ns = lock ? now_ns() : 0;

	resolve();
	return locked(lock, since_ns, real_lock(mutex));
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	struct shared_lock *lock = entry(mutex);
	uint64_t since_ns = lock ? now_ns() : 0;

	resolve();
	return locked(lock, since_ns, real_timedlock(mutex, until));
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				     const struct timespec *until)
{
	struct shared_lock *lock = entry(mutex);
	uint64_t since_ns = lock ? now_ns() : 0;

	resolve();
	return locked(lock, since_ns, real_clocklock(mutex, clock, until));
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	resolve();
	return locked(entry(mutex), NOT_WAITING, real_trylock(mutex));
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	resolve();
	released(entry(mutex));
	return real_unlock(mutex);
}

EXPORTED int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	struct shared_lock *lock = entry(mutex);

	resolve();
	released(lock);
	return waited(lock, real_wait(cond, mutex));
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				    const struct timespec *until)
{
	struct shared_lock *lock = entry(mutex);

	resolve();
	released(lock);
	return waited(lock, real_timedwait(cond, mutex, until));
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				    clockid_t clock, const struct timespec *until)
{
	struct shared_lock *lock = entry(mutex);

	resolve();
	released(lock);
	return waited(lock, real_clockwait(cond, mutex, clock, until));
}
