/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that wait for each other, neighbours bound to neighbouring CPUs. Each runtimes/X includes
 * it once, after it has defined these; functions return 0 or an errno value:
 *
 * sync_mutex, sync_mutex_init(sync_mutex **), sync_mutex_destroy(), sync_mutex_lock(), _unlock()
 * sync_cond, the same, sync_cond_wait(sync_cond *, sync_mutex *), sync_cond_broadcast()
 * sync_barrier, sync_barrier_init(sync_barrier **, count), sync_barrier_destroy(), _wait()
 *
 * All objects are made by the first thread, as in the NUMA thesis (section 6.2).
 */
#ifndef BENCH_LOCKS_H
#define BENCH_LOCKS_H

#include <errno.h>
#include <hwloc.h>
#include <pthread.h>
#include <stdbool.h>

#include "bench.h"
#include "theses/sync.h"

typedef void body_function(unsigned int thread);

static hwloc_topology_t topology;
static pthread_t pool[SYNC_THREADS];
static unsigned int threads;
static sync_mutex *mutex;
static sync_barrier *everybody;

/* Protected by `gate`. */
static sync_mutex *gate;
static sync_cond *begun;
static body_function *region;			/* NULL: the threads end */
static unsigned long regions;

/* A thread without a CPU of this machine is not bound. */
static void bind_to_cpu(unsigned int thread)
{
	unsigned int cpus = (unsigned int)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	hwloc_obj_t cpu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU,
						(unsigned int)((size_t)thread * cpus / threads));

	if (cpu)
		hwloc_set_cpubind(topology, cpu->cpuset, HWLOC_CPUBIND_THREAD);
}

static void run_region(body_function *body)
{
	sync_mutex_lock(gate);
	region = body;
	regions++;
	sync_cond_broadcast(begun);
	sync_mutex_unlock(gate);
	if (!body)
		return;
	body(0);
	sync_barrier_wait(everybody);
}

static void *work(void *arg)
{
	unsigned int thread = (unsigned int)(uintptr_t)arg;
	unsigned long seen = 0;
	body_function *body;

	bind_to_cpu(thread);
	do {
		sync_mutex_lock(gate);
		while (regions == seen)
			sync_cond_wait(begun, gate);
		seen = regions;
		body = region;
		sync_mutex_unlock(gate);
		if (body) {
			body(thread);
			sync_barrier_wait(everybody);
		}
	} while (body);
	return NULL;
}

static void count_own(unsigned int thread)
{
	bench_sync.own[thread].count++;
}

static void sync_parallel_run(void)
{
	for (unsigned int i = 0; i < bench_sync.size; i++)
		run_region(count_own);
}

static void meet(unsigned int thread)
{
	for (unsigned int i = 0; i < bench_sync.size; i++) {
		count_own(thread);
		sync_barrier_wait(everybody);
	}
}

static void sync_barrier_run(void)
{
	run_region(meet);
}

static void count_shared(unsigned int thread)
{
	sync_mutex_lock(mutex);
	bench_sync.shared++;
	sync_mutex_unlock(mutex);
}

/* The threads share the locks among them. */
static unsigned int share(unsigned int number, unsigned int of)
{
	return (unsigned int)((uint64_t)bench_sync.size * (number + 1) / of -
			      (uint64_t)bench_sync.size * number / of);
}

static void count_share(unsigned int thread)
{
	for (unsigned int left = share(thread, threads); left; left--)
		count_shared(thread);
}

static void sync_lock_run(void)
{
	run_region(count_share);
}

static void sync_reduction_run(void)
{
	for (unsigned int i = 0; i < bench_sync.size; i++)
		run_region(count_shared);
}

static int start(unsigned int count)
{
	int error = 0;

	if (count > SYNC_THREADS)
		return EINVAL;
	threads = bench_sync.threads = count;
	if (hwloc_topology_init(&topology) || hwloc_topology_load(topology))
		return ENOMEM;
	bind_to_cpu(0);
	if (sync_mutex_init(&mutex) || sync_mutex_init(&gate) || sync_cond_init(&begun) ||
	    sync_barrier_init(&everybody, count))
		return ENOMEM;
	for (unsigned int i = 1; i < count && !error; i++)
		error = pthread_create(&pool[i], NULL, work, (void *)(uintptr_t)i);
	return error;
}

static void stop(void)
{
	run_region(NULL);
	for (unsigned int i = 1; i < threads; i++)
		pthread_join(pool[i], NULL);
	sync_barrier_destroy(everybody);
	sync_cond_destroy(begun);
	sync_mutex_destroy(gate);
	sync_mutex_destroy(mutex);
	hwloc_topology_destroy(topology);
}

static void enter(void (*run)(void))
{
	run();
}

#endif
