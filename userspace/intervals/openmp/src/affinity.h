/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places (OMP_PLACES) and which threads are bound to which of them (OMP_PROC_BIND). */
#ifndef GOMP_AFFINITY_H
#define GOMP_AFFINITY_H

#include "gomp.h"

/* What the environment says. */
void gomp_places_init(void);
/*
 * A thread outside of all regions has the first place, and all for its regions. It goes there when
 * it begins one that is bound, or asks where it is.
 */
void gomp_places_enter(struct member *initial);
/* The places of a region's threads, by the policy, among those that the caller has. */
void gomp_places_choose(struct member *self, struct team *team, unsigned int bind);
/* The calling thread goes where its member is. */
void gomp_bind(struct member *self);
/* affinity_format.c: OMP_AFFINITY_FORMAT, or what stands for it; until it is set anew. */
const char *gomp_affinity_format(void);
/* Once for each thread, where OMP_DISPLAY_AFFINITY asks for it. */
void gomp_affinity_display(struct member *self);

#endif
