// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The task-locality dispatcher: a hash table from objects to places.
 *
 * The table never resizes (it has as many buckets as objects are expected, as in
 * section 5.5 of the NUMA thesis): a resize runs in a thread of liburcu's, and
 * destroying a table while it does could deadlock until liburcu 0.13.3.
 *
 * The flavour of RCU is urcu-bp: any thread may ask, also one that the runtime does
 * not know and that is not registered as a reader. Objects leave the table rarely
 * and by synchronize_rcu(): call_rcu() would start a thread, and abort without one.
 */
#include "intervals_dispatch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-bp.h>
#include <urcu/rculfhash.h>

#include "mix.h"
#include "place.h"
#include "scheduler.h"
#include "tsan.h"

#define NONE ~0u
#define LARGEST (1ul << 24)		/* buckets */
#define TALLIES 32u

struct object {
	struct cds_lfht_node node;
	void *address;
	size_t bytes;
	unsigned int place;
	bool allocated;
};

struct ivl_objects {
	struct cds_lfht *table;
	const ivl_runtime *runtime;
	_Atomic unsigned int turn;
	unsigned int places;
	bool alike;			/* is each place the only one on its node? */
	unsigned int domains[];		/* of each place: the first place on the same node */
};

/*
 * Places.
 */

static unsigned int domain_of(const ivl_runtime *runtime, unsigned int index)
{
	const ivl_place *place = ivl_place_at(runtime, index);

	for (unsigned int i = 0; i < index && place->node >= 0; i++)
		if (ivl_place_at(runtime, i)->node == place->node)
			return i;
	return index;
}

static int check_place(const ivl_objects *objects, const ivl_place *place)
{
	if (place && place->index < objects->places &&
	    ivl_place_at(objects->runtime, place->index) == place)
		return 0;
	return ivl_error(EINVAL, "%s is no place where this runtime has workers",
			 place ? place->name : "NULL");
}

/* In turn, one of the places on the node that has most of the memory. */
static int find_place(ivl_objects *objects, const void *memory, size_t bytes,
		      const ivl_place **place)
{
	unsigned int on_node = 0, turn;
	int node, error;

	error = ivl_node_of(memory, bytes, &node);
	if (error)
		return ivl_error(error, "the kernel does not say where the object is: %s",
				 strerror(error));
	for (unsigned int i = 0; i < objects->places; i++)
		on_node += ivl_place_at(objects->runtime, i)->node == node;
	if (!on_node)
		return ivl_error(ENOENT, "the object is on node %d, where no place is", node);
	turn = atomic_fetch_add_explicit(&objects->turn, 1, memory_order_relaxed) % on_node;
	for (unsigned int i = 0; i < objects->places; i++) {
		*place = ivl_place_at(objects->runtime, i);
		if ((*place)->node == node && !turn--)
			break;
	}
	return 0;
}

/*
 * The table.
 */

static unsigned long hash_of(const void *address)
{
	return (unsigned long)ivl_mix((uintptr_t)address);
}

static int is_object(struct cds_lfht_node *node, const void *address)
{
	const struct object *object = caa_container_of(node, struct object, node);

	ivl_tsan_acquire((void *)object);
	return object->address == address;
}

/* Inside a read-side critical section, in which alone the result is valid. */
static struct object *look_up(ivl_objects *objects, const void *address)
{
	struct cds_lfht_iter iterator;
	struct cds_lfht_node *node;

	cds_lfht_lookup(objects->table, hash_of(address), is_object, address, &iterator);
	node = cds_lfht_iter_get_node(&iterator);
	return node ? caa_container_of(node, struct object, node) : NULL;
}

static void read_unlock(ivl_objects *objects)
{
	ivl_tsan_release(objects);
	urcu_bp_read_unlock();
}

static void object_free(const ivl_objects *objects, struct object *object)
{
	if (object->allocated)
		ivl_node_free(object->address, object->bytes,
			      ivl_place_at(objects->runtime, object->place)->node);
	free(object);
}

static int add(ivl_objects *objects, void *address, size_t bytes, const ivl_place *place,
	       bool allocated)
{
	struct object *object = calloc(1, sizeof(*object));
	struct cds_lfht_node *there;

	if (!object)
		return ENOMEM;
	object->address = address;
	object->bytes = bytes;
	object->place = place->index;
	object->allocated = allocated;
	cds_lfht_node_init(&object->node);
	ivl_tsan_release(object);
	urcu_bp_read_lock();
	there = cds_lfht_add_unique(objects->table, hash_of(address), is_object, address,
				    &object->node);
	read_unlock(objects);
	if (there == &object->node)
		return 0;
	free(object);
	return ivl_error(EEXIST, "the object at %p is bound already", address);
}

/*
 * The API.
 */

ivl_objects *ivl_objects_create(const ivl_runtime *runtime, size_t expected)
{
	unsigned int places = ivl_place_count(runtime);
	ivl_objects *objects = calloc(1, sizeof(*objects) + places * sizeof(*objects->domains));
	unsigned long buckets = 1;

	if (!objects)
		return NULL;
	while (buckets < expected && buckets < LARGEST)
		buckets *= 2;
	objects->table = cds_lfht_new_flavor(buckets, buckets, buckets, 0, &urcu_bp_flavor, NULL);
	if (!objects->table) {
		free(objects);
		return NULL;
	}
	objects->runtime = runtime;
	objects->places = places;
	objects->alike = true;
	for (unsigned int i = 0; i < places; i++) {
		objects->domains[i] = domain_of(runtime, i);
		objects->alike &= objects->domains[i] == i;
	}
	return objects;
}

void ivl_objects_destroy(ivl_objects *objects)
{
	struct cds_lfht_iter iterator;
	struct object *object;

	if (!objects)
		return;
	/* Nobody else is here: what is out of the table can be freed at once. */
	urcu_bp_read_lock();
	cds_lfht_for_each_entry(objects->table, &iterator, object, node) {
		ivl_tsan_acquire(object);
		cds_lfht_del(objects->table, &object->node);
		object_free(objects, object);
	}
	urcu_bp_read_unlock();
	/* Outside of any read-side critical section, and of a table that never resizes. */
	cds_lfht_destroy(objects->table, NULL);
	free(objects);
}

void *ivl_object_alloc(ivl_objects *objects, size_t bytes, const ivl_place *place)
{
	void *object;

	if (!bytes)
		ivl_error(EINVAL, "an object has at least one byte");
	if (!bytes || check_place(objects, place))
		return NULL;
	object = ivl_node_alloc(bytes, place->node);
	if (object && add(objects, object, bytes, place, true)) {
		ivl_node_free(object, bytes, place->node);
		object = NULL;
	}
	return object;
}

int ivl_object_bind(ivl_objects *objects, const void *object, size_t bytes, const ivl_place *place)
{
	int error;

	if (!object || !bytes)
		return ivl_error(EINVAL, "an object has an address and at least one byte");
	error = place ? check_place(objects, place) : find_place(objects, object, bytes, &place);
	return error ? error : add(objects, (void *)object, bytes, place, false);
}

int ivl_object_unbind(ivl_objects *objects, void *address)
{
	struct object *object;
	int error = ENOENT;

	urcu_bp_read_lock();
	object = look_up(objects, address);
	/* Of several who find it one deletes it. */
	if (object && !cds_lfht_del(objects->table, &object->node))
		error = 0;
	read_unlock(objects);
	if (error)
		return ivl_error(error, "no object at %p is bound", address);
	urcu_bp_synchronize_rcu();
	ivl_tsan_acquire(objects);
	object_free(objects, object);
	return 0;
}

const ivl_place *ivl_object_place(ivl_objects *objects, const void *address)
{
	const ivl_place *place = NULL;
	struct object *object;

	urcu_bp_read_lock();
	object = look_up(objects, address);
	if (object)
		place = ivl_place_at(objects->runtime, object->place);
	read_unlock(objects);
	return place;
}

/*
 * Dispatching.
 */

struct tally {
	size_t bytes, first;		/* the first object that counts, in `uses` */
};

/* Count the object under its place's domain, or under its place if it is in this domain. */
static unsigned int key_of(const ivl_objects *objects, const struct object *object,
			   unsigned int domain)
{
	if (domain == NONE)
		return objects->domains[object->place];
	return objects->domains[object->place] == domain ? object->place : NONE;
}

static void count_bytes(ivl_objects *objects, const void *const *uses, size_t count,
			unsigned int domain, unsigned int begin, struct tally *tally)
{
	for (size_t i = 0; i < count; i++) {
		const struct object *object = look_up(objects, uses[i]);
		unsigned int key = object ? key_of(objects, object, domain) : NONE;

		if (key < begin || key - begin >= TALLIES)
			continue;
		if (!tally[key - begin].bytes)
			tally[key - begin].first = i;
		tally[key - begin].bytes += object->bytes;
	}
}

/* The domain, or the place of a domain, that has most bytes; NONE: no object is bound. */
static unsigned int most_bytes(ivl_objects *objects, const void *const *uses, size_t count,
			       unsigned int domain)
{
	struct tally best = { 0, 0 };
	unsigned int key = NONE;

	/* As many places at a time as fit on a small stack: on most machines all of them. */
	for (unsigned int begin = 0; begin < objects->places; begin += TALLIES) {
		struct tally tally[TALLIES] = { { 0, 0 } };

		count_bytes(objects, uses, count, domain, begin, tally);
		for (unsigned int i = 0; i < TALLIES; i++) {
			if (tally[i].bytes < best.bytes || !tally[i].bytes ||
			    (tally[i].bytes == best.bytes && tally[i].first > best.first))
				continue;
			best = tally[i];
			key = begin + i;
		}
	}
	return key;
}

const ivl_place *ivl_dispatch(ivl_objects *objects, const void *const *uses, size_t count)
{
	unsigned int domain, place;

	urcu_bp_read_lock();
	domain = most_bytes(objects, uses, count, NONE);
	place = domain;
	if (domain != NONE && !objects->alike)
		place = most_bytes(objects, uses, count, domain);
	read_unlock(objects);
	if (domain == NONE)
		return NULL;
	/* All of them may have been unbound between the two. */
	return ivl_place_at(objects->runtime, place != NONE ? place : domain);
}
