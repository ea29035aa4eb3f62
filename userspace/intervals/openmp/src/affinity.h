/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places (OMP_PLACES) and binding (OMP_PROC_BIND). */
#ifndef GOMP_AFFINITY_H
#define GOMP_AFFINITY_H

#include "gomp.h"

/* From the environment. */
void gomp_places_init(void);
/*
 * A thread outside of regions has the first place, and all places for its regions. It is bound when
 * it begins a bound region or asks for its place.
 */
void gomp_places_enter(struct member *initial);
/* Choose the places of a region's threads, by policy, from the caller's partition. */
void gomp_places_choose(struct member *self, struct team *team, unsigned int bind);
/* Bind the calling thread to its member's place. */
void gomp_bind(struct member *self);
/* affinity_format.c: the format in use. */
const char *gomp_affinity_format(void);
/* Once per thread, if OMP_DISPLAY_AFFINITY is set. */
void gomp_affinity_display(struct member *self);

#endif
