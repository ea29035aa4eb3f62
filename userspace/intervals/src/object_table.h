/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The dispatcher's table of objects. Any thread may look in it, by a function that writes nothing
 * and needs no memory. Its buckets are as many as objects are expected, and stay so.
 */
#ifndef IVL_OBJECT_TABLE_H
#define IVL_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct ivl_object {
	void *address;
	size_t bytes;
	unsigned int place;
	bool allocated;			/* by ivl_object_alloc() */
};

struct ivl_object_table;

/* NULL: ENOMEM. */
struct ivl_object_table *ivl_object_table_create(size_t expected);
/* Nobody else is here; `gone` is called for each object that is left. */
void ivl_object_table_destroy(struct ivl_object_table *table,
			      void (*gone)(const struct ivl_object *object, void *arg), void *arg);

/* 0, EEXIST, ENOMEM. */
int ivl_object_table_add(struct ivl_object_table *table, const struct ivl_object *object);
/* Which it was, into *object. Of several who remove it one is told true. */
bool ivl_object_table_remove(struct ivl_object_table *table, const void *address,
			     struct ivl_object *object);
/* False: none has that address. `allocated` is not told. */
bool ivl_object_table_find(struct ivl_object_table *table, const void *address,
			   struct ivl_object *object);

#endif
