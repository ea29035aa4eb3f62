// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each bucket is a list with a sequence count. A writer holds the table's lock and makes the
 * bucket's count odd while it changes it; a reader retries until the count was even and did not
 * change. Entries are not freed before the table: a reader at an entry that was removed or moved to
 * another bucket finds valid memory, and then the changed count.
 *
 * Not RCU: reader threads would have to be registered, and liburcu aborts without memory for that.
 */
#include "object_table.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "mix.h"

#define LARGEST (1ul << 24)		/* buckets */

struct entry {
	_Atomic(struct entry *) next;
	_Atomic(void *) address;
	_Atomic(size_t) bytes;
	_Atomic(unsigned int) place;
	bool allocated;			/* by holders of the lock */
};

struct bucket {
	_Atomic(uint64_t) changes;
	_Atomic(struct entry *) first;
};

struct ivl_object_table {
	pthread_mutex_t lock;
	struct entry *free;		/* removed entries */
	size_t buckets;			/* a power of two */
	struct bucket bucket[];
};

struct ivl_object_table *ivl_object_table_create(size_t expected)
{
	struct ivl_object_table *table;
	size_t buckets = 1;

	while (buckets < expected && buckets < LARGEST)
		buckets *= 2;
	table = calloc(1, sizeof(*table) + buckets * sizeof(*table->bucket));
	if (!table)
		return NULL;
	table->buckets = buckets;
	pthread_mutex_init(&table->lock, NULL);
	return table;
}

static struct bucket *bucket_of(struct ivl_object_table *table, const void *address)
{
	return &table->bucket[ivl_mix((uintptr_t)address) & (table->buckets - 1)];
}

/* Acquire: a reader that sees any part of a change also sees the odd count before it. */
#define look_at(object) atomic_load_explicit(object, memory_order_acquire)
/* Release: after the odd count. */
#define change(object, value) atomic_store_explicit(object, value, memory_order_release)

static bool is_unchanged(const struct bucket *bucket, uint64_t changes)
{
	return atomic_load_explicit(&bucket->changes, memory_order_relaxed) == changes;
}

/* NULL: none, or the bucket has changed. */
static struct entry *find(struct bucket *bucket, uint64_t changes, const void *address)
{
	struct entry *entry = look_at(&bucket->first);

	while (entry && look_at(&entry->address) != address)
		entry = is_unchanged(bucket, changes) ? look_at(&entry->next) : NULL;
	return entry;
}

bool ivl_object_table_find(struct ivl_object_table *table, const void *address,
			   struct ivl_object *object)
{
	struct bucket *bucket = bucket_of(table, address);

	for (;;) {
		const uint64_t changes = look_at(&bucket->changes);
		struct entry *entry;

		if (changes & 1) {
			sched_yield();
			continue;
		}
		entry = find(bucket, changes, address);
		if (entry) {
			object->address = (void *)address;
			object->bytes = look_at(&entry->bytes);
			object->place = look_at(&entry->place);
		}
		if (is_unchanged(bucket, changes))
			return entry;
	}
}

static void begin(struct bucket *bucket)
{
	atomic_fetch_add_explicit(&bucket->changes, 1, memory_order_relaxed);
}

static void end(struct bucket *bucket)
{
	atomic_fetch_add_explicit(&bucket->changes, 1, memory_order_release);
}

/* Reuses removed entries; NULL: ENOMEM. */
static struct entry *get(struct ivl_object_table *table)
{
	struct entry *entry = table->free;

	if (!entry)
		return calloc(1, sizeof(*entry));
	table->free = look_at(&entry->next);
	return entry;
}

static int add(struct ivl_object_table *table, const struct ivl_object *object)
{
	struct bucket *bucket = bucket_of(table, object->address);
	struct entry *entry;

	if (find(bucket, look_at(&bucket->changes), object->address))
		return EEXIST;
	entry = get(table);
	if (!entry)
		return ENOMEM;
	entry->allocated = object->allocated;
	begin(bucket);
	change(&entry->next, look_at(&bucket->first));
	change(&entry->address, object->address);
	change(&entry->bytes, object->bytes);
	change(&entry->place, object->place);
	change(&bucket->first, entry);
	end(bucket);
	return 0;
}

int ivl_object_table_add(struct ivl_object_table *table, const struct ivl_object *object)
{
	int error;

	pthread_mutex_lock(&table->lock);
	error = add(table, object);
	pthread_mutex_unlock(&table->lock);
	return error;
}

static struct ivl_object object_of(struct entry *entry)
{
	return (struct ivl_object){ look_at(&entry->address), look_at(&entry->bytes),
				    look_at(&entry->place), entry->allocated };
}

static bool take_out(struct ivl_object_table *table, const void *address,
		     struct ivl_object *object)
{
	struct bucket *bucket = bucket_of(table, address);
	_Atomic(struct entry *) *link = &bucket->first;
	struct entry *entry;

	while ((entry = look_at(link)) && look_at(&entry->address) != address)
		link = &entry->next;
	if (!entry)
		return false;
	*object = object_of(entry);
	begin(bucket);
	change(link, look_at(&entry->next));
	change(&entry->next, table->free);
	end(bucket);
	table->free = entry;
	return true;
}

bool ivl_object_table_remove(struct ivl_object_table *table, const void *address,
			     struct ivl_object *object)
{
	bool was_there;

	pthread_mutex_lock(&table->lock);
	was_there = take_out(table, address, object);
	pthread_mutex_unlock(&table->lock);
	return was_there;
}

void ivl_object_table_destroy(struct ivl_object_table *table,
			      void (*gone)(const struct ivl_object *object, void *arg), void *arg)
{
	struct entry *entry;

	for (size_t i = 0; i < table->buckets; i++) {
		while ((entry = look_at(&table->bucket[i].first))) {
			const struct ivl_object object = object_of(entry);

			change(&table->bucket[i].first, look_at(&entry->next));
			gone(&object, arg);
			free(entry);
		}
	}
	while ((entry = table->free)) {
		table->free = look_at(&entry->next);
		free(entry);
	}
	pthread_mutex_destroy(&table->lock);
	free(table);
}
