// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tasks and a thread share a table: a mutex protects it, a condition variable says when it is full,
 * and a barrier when all have seen that. Waiting tasks are suspended, so two workers are enough for
 * eight tasks.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>
#include <intervals_sync.h>

#define TASKS 8

struct table {
	ivl_numa_mutex *mutex;
	ivl_numa_cond *full;
	ivl_numa_barrier *seen;
	int entries;
};

/* Part of the work of all: returns when all have come here. */
static void wait_for_all(struct table *table, int new_entries)
{
	ivl_numa_mutex_lock(table->mutex);
	table->entries += new_entries;
	if (table->entries == TASKS)
		ivl_numa_cond_broadcast(table->full);
	while (table->entries < TASKS)
		ivl_numa_cond_wait(table->full, table->mutex);
	ivl_numa_mutex_unlock(table->mutex);
	if (ivl_numa_barrier_wait(table->seen) == IVL_NUMA_BARRIER_SERIAL)
		printf("all have seen %d entries\n", table->entries);
}

static void *look(void *table)
{
	wait_for_all(table, 0);
	return NULL;
}

static void fill(size_t begin, size_t end, void *table)
{
	for (; begin < end; begin++)
		wait_for_all(table, 1);
}

static int run(ivl_interval *self, void *table)
{
	(void)self;
	ivl_parallel_for(0, TASKS, 1, fill, table);
	return 0;
}

int main(void)
{
	struct table table = { .entries = 0 };
	ivl_runtime *runtime;
	pthread_t thread;
	struct ivl_config config;

	if (ivl_config_init(&config))
		return EXIT_FAILURE;
	config.workers = 2;
	if (ivl_numa_mutex_init(&table.mutex) || ivl_numa_cond_init(&table.full) ||
	    ivl_numa_barrier_init(&table.seen, TASKS + 1) || ivl_start(&config, &runtime)) {
		fprintf(stderr, "numa_sync: %s\n", ivl_last_error());
		return EXIT_FAILURE;
	}
	if (pthread_create(&thread, NULL, look, &table))
		return EXIT_FAILURE;
	ivl_run(runtime, run, &table);
	pthread_join(thread, NULL);
	ivl_stop(runtime);
	/* No task still uses any of them, or this would be EBUSY. */
	return ivl_numa_barrier_destroy(table.seen) || ivl_numa_cond_destroy(table.full) ||
	       ivl_numa_mutex_destroy(table.mutex);
}
