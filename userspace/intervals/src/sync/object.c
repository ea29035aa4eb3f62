// SPDX-License-Identifier: LGPL-2.1-or-later
#include "place.h"
#include "sync/node.h"

static size_t bytes_with_pointers(size_t bytes, unsigned int nodes)
{
	return bytes + nodes * sizeof(void *);
}

void *ivl_sync_create(size_t bytes, size_t part_bytes)
{
	const unsigned int nodes = ivl_sync_nodes(), home = ivl_sync_node(nodes);
	struct ivl_sync_object *object = ivl_node_alloc(bytes_with_pointers(bytes, nodes),
							(int)home);

	if (!object)
		return NULL;
	/* `bytes` is a multiple of a pointer's alignment. */
	object->parts = (void **)((char *)object + bytes);
	object->home = home;
	object->bytes = bytes_with_pointers(bytes, nodes);
	object->part_bytes = part_bytes;
	for (object->nodes = 0; object->nodes < nodes; object->nodes++) {
		void *part = ivl_node_alloc(part_bytes, (int)object->nodes);

		if (!part) {
			ivl_sync_destroy(object);
			return NULL;
		}
		object->parts[object->nodes] = part;
	}
	return object;
}

void ivl_sync_destroy(void *memory)
{
	struct ivl_sync_object *object = memory;

	for (unsigned int i = 0; i < object->nodes; i++)
		ivl_node_free(object->parts[i], object->part_bytes, (int)i);
	ivl_node_free(object, object->bytes, (int)object->home);
}
