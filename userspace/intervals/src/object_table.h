/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The dispatcher's table of objects. Any thread may look up; a lookup neither writes nor allocates.
 * The number of buckets is fixed: as many as objects are expected.
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
/* No other thread may use it. gone() is called for each object that is left. */
void ivl_object_table_destroy(struct ivl_object_table *table,
			      void (*gone)(const struct ivl_object *object, void *arg), void *arg);

/* 0, EEXIST, ENOMEM. */
int ivl_object_table_add(struct ivl_object_table *table, const struct ivl_object *object);
/* Copies the removed object to *object. Only one of several callers gets true. */
bool ivl_object_table_remove(struct ivl_object_table *table, const void *address,
			     struct ivl_object *object);
/* False: not found. Does not set `allocated`. */
bool ivl_object_table_find(struct ivl_object_table *table, const void *address,
			   struct ivl_object *object);

#endif
