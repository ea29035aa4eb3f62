/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synthetic topologies. */
#ifndef TEST_PLACE_H
#define TEST_PLACE_H

#include "test.h"

#include "place.h"

/* hwloc's words for a machine, or NULL for this one. */
static inline void test_machine(const char *synthetic)
{
	if (synthetic)
		setenv("HWLOC_SYNTHETIC", synthetic, 1);
	else
		unsetenv("HWLOC_SYNTHETIC");
}

static inline struct ivl_topology *test_topology(const char *synthetic, enum ivl_places_by places,
						 unsigned int workers)
{
	const struct ivl_config config = { .places = places, .workers = workers };
	struct ivl_topology *topology = NULL;

	test_machine(synthetic);
	assert_int_equal(ivl_topology_create(&config, &topology), 0);
	return topology;
}

static inline void test_topology_end(struct ivl_topology **topology)
{
	ivl_topology_destroy(*topology);
}

/* Such a topology, until the end of the block. */
#define TEST_TOPOLOGY(name, ...) \
	__attribute__((cleanup(test_topology_end))) struct ivl_topology *name = \
		test_topology(__VA_ARGS__)

#endif
