/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whom to steal from: an order in which a worker without work asks the others.
 * Plain data of the asking worker plus one mask shared by all; no queue is touched.
 */
#ifndef IVL_VICTIM_H
#define IVL_VICTIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "place.h"

/*
 * What all workers of a runtime share: who is worth stealing from (NUMA thesis, section 3.4).
 * A bit is set when the queue's length reaches `high`, and cleared when it falls to `low`, which
 * is less. A hint: two that tell a length at the same time may leave the older one. Who is going
 * to sleep must therefore look at the queues, not at the mask.
 */
struct ivl_stealability;

struct ivl_stealability *ivl_stealability_create(unsigned int workers, unsigned int low,
						 unsigned int high);
void ivl_stealability_destroy(struct ivl_stealability *mask);
/* The owner tells its queue's length after a put or take, or a thief after a steal. */
void ivl_stealability_update(struct ivl_stealability *mask, unsigned int worker,
			     unsigned int length);
bool ivl_stealable(const struct ivl_stealability *mask, unsigned int worker);

/* One worker's state of choosing. */
struct ivl_chooser;

/*
 * Of the worker of that number at that place; of none of the topology's, where the number is
 * beyond these. NULL: ENOMEM. With a mask only the stealable are named, in whatever order
 * config->victims asks for; but of 8 rounds in sequence that get nothing one names everybody, so that no
 * element is left behind in a queue that stays below `high`. Workers of other places are
 * named only where config->cross_place is set. The same seed gives the same order.
 */
struct ivl_chooser *ivl_chooser_create(const struct ivl_config *config,
				       const struct ivl_topology *topology,
				       struct ivl_stealability *mask,
				       const struct ivl_place *place, unsigned int worker);
void ivl_chooser_destroy(struct ivl_chooser *chooser);

/* Begin a round over the victims: each is named at most once, never oneself. */
void ivl_chooser_begin(struct ivl_chooser *chooser);
/* The next victim's number, or -1: the round is over. */
int ivl_chooser_next(struct ivl_chooser *chooser);
/* The last named victim had something: begin the next round with it. */
void ivl_chooser_succeeded(struct ivl_chooser *chooser);

#endif
