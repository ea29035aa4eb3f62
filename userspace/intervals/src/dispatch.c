// SPDX-License-Identifier: LGPL-2.1-or-later
/* The task-locality dispatcher: the place that has most of a task's objects. */
#include "intervals_dispatch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "object_table.h"
#include "place.h"
#include "scheduler.h"

#define NONE ~0u
#define TALLIES 32u

struct ivl_objects {
	struct ivl_object_table *table;
	const ivl_runtime *runtime;
	_Atomic unsigned int turn;
	unsigned int places;
	bool alike;			/* each place is the only one on its node */
	unsigned int domains[];		/* of each place: the first place on its node */
};

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
	return ivl_error(EINVAL, "%s: this runtime has no workers there",
			 place ? place->name : "NULL");
}

/* The places on the node with most of the memory take turns. */
static int find_place(ivl_objects *objects, const void *memory, size_t bytes,
		      const ivl_place **place)
{
	unsigned int on_node = 0, turn;
	int node, error;

	error = ivl_node_of(memory, bytes, &node);
	if (error)
		return ivl_error(error, "the object's node is unknown: %s",
				 strerror(error));
	for (unsigned int i = 0; i < objects->places; i++)
		on_node += ivl_place_at(objects->runtime, i)->node == node;
	if (!on_node)
		return ivl_error(ENOENT, "the object is on node %d, which has no place", node);
	turn = atomic_fetch_add_explicit(&objects->turn, 1, memory_order_relaxed) % on_node;
	for (unsigned int i = 0; i < objects->places; i++) {
		*place = ivl_place_at(objects->runtime, i);
		if ((*place)->node == node && !turn--)
			break;
	}
	return 0;
}

static void object_free(const struct ivl_object *object, void *arg)
{
	const ivl_objects *objects = arg;

	if (object->allocated)
		ivl_node_free(object->address, object->bytes,
			      ivl_place_at(objects->runtime, object->place)->node);
}

static int add(ivl_objects *objects, void *address, size_t bytes, const ivl_place *place,
	       bool allocated)
{
	const struct ivl_object object = { address, bytes, place->index, allocated };
	int error = ivl_object_table_add(objects->table, &object);

	return error == EEXIST ?
		ivl_error(EEXIST, "the object at %p is already bound", address) : error;
}

ivl_objects *ivl_objects_create(const ivl_runtime *runtime, size_t expected)
{
	unsigned int places = ivl_place_count(runtime);
	ivl_objects *objects = calloc(1, sizeof(*objects) + places * sizeof(*objects->domains));

	if (!objects)
		return NULL;
	objects->table = ivl_object_table_create(expected);
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
	if (!objects)
		return;
	ivl_object_table_destroy(objects->table, object_free, objects);
	free(objects);
}

void *ivl_object_alloc(ivl_objects *objects, size_t bytes, const ivl_place *place)
{
	void *object;

	if (!bytes)
		ivl_error(EINVAL, "the object has no bytes");
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
		return ivl_error(EINVAL, "the object has no address or no bytes");
	error = place ? check_place(objects, place) : find_place(objects, object, bytes, &place);
	return error ? error : add(objects, (void *)object, bytes, place, false);
}

int ivl_object_unbind(ivl_objects *objects, void *address)
{
	struct ivl_object object;

	if (!ivl_object_table_remove(objects->table, address, &object))
		return ivl_error(ENOENT, "no object at %p is bound", address);
	object_free(&object, objects);
	return 0;
}

const ivl_place *ivl_object_place(ivl_objects *objects, const void *address)
{
	struct ivl_object object;

	if (!ivl_object_table_find(objects->table, address, &object))
		return NULL;
	return ivl_place_at(objects->runtime, object.place);
}

struct tally {
	size_t bytes, first;		/* first: index of the first counted object in `uses` */
};

/* The object's domain, or its place if that is in `domain`; NONE: do not count it. */
static unsigned int key_of(const ivl_objects *objects, const struct ivl_object *object,
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
		struct ivl_object object;
		unsigned int key = NONE;

		if (ivl_object_table_find(objects->table, uses[i], &object))
			key = key_of(objects, &object, domain);
		if (key < begin || key - begin >= TALLIES)
			continue;
		if (!tally[key - begin].bytes)
			tally[key - begin].first = i;
		tally[key - begin].bytes += object.bytes;
	}
}

/* The domain, or the place in `domain`, with most bytes; NONE: no object is bound. */
static unsigned int most_bytes(ivl_objects *objects, const void *const *uses, size_t count,
			       unsigned int domain)
{
	struct tally best = { 0, 0 };
	unsigned int key = NONE;

	/* In batches that fit on a small stack; mostly there is only one. */
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

	domain = most_bytes(objects, uses, count, NONE);
	place = domain;
	if (domain != NONE && !objects->alike)
		place = most_bytes(objects, uses, count, domain);
	if (domain == NONE)
		return NULL;
	/* All objects may have been unbound between the two calls. */
	return ivl_place_at(objects->runtime, place != NONE ? place : domain);
}
