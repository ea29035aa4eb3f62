/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Choosing victims: the order in which a thief asks other workers. Data of the thief plus one
 * shared mask; queues are not touched.
 */
#ifndef IVL_VICTIM_H
#define IVL_VICTIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "place.h"

/*
 * Which workers are worth stealing from (NUMA thesis, section 3.4). A bit is set when the queue's
 * length reaches `high`, and cleared when it falls to `low`. A hint: concurrent updates may leave
 * the older length. So a worker that is about to sleep must look at the queues.
 */
struct ivl_stealability;

struct ivl_stealability *ivl_stealability_create(unsigned int workers, unsigned int low,
						 unsigned int high);
void ivl_stealability_destroy(struct ivl_stealability *mask);
/* The queue's length changed: by the owner after a put or take, by a thief after a steal. */
void ivl_stealability_update(struct ivl_stealability *mask, unsigned int worker,
			     unsigned int length);
bool ivl_stealable(const struct ivl_stealability *mask, unsigned int worker);

struct ivl_chooser;

/*
 * For worker number `worker` of that place; an external worker has a number beyond the topology's.
 * With a mask only stealable workers are returned, but every eighth fruitless round returns all, so
 * that no element is left in a short queue. Workers of other places only if config->cross_place.
 * The same seed gives the same order. NULL: ENOMEM.
 */
struct ivl_chooser *ivl_chooser_create(const struct ivl_config *config,
				       const struct ivl_topology *topology,
				       struct ivl_stealability *mask,
				       const struct ivl_place *place, unsigned int worker);
void ivl_chooser_destroy(struct ivl_chooser *chooser);

/* Begin a round, which returns each victim at most once. */
void ivl_chooser_begin(struct ivl_chooser *chooser);
/* The next victim's number; -1: the round is over. */
int ivl_chooser_next(struct ivl_chooser *chooser);
/* The last victim had something: begin the next round with it. */
void ivl_chooser_succeeded(struct ivl_chooser *chooser);

#endif
