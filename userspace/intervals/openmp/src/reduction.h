/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions of tasks: private copies per thread, which the compiler combines. */
#ifndef GOMP_REDUCTION_H
#define GOMP_REDUCTION_H

#include "workshare.h"

/* Of the worksharing construct that the caller has entered; begins its taskgroup. */
void gomp_reductions_of_share(struct member *self, uintptr_t *reductions);
/* In: size. Out: zeroed memory, the same for all of the team. */
void gomp_workshare_memory(struct workshare *share, void **memory);
/* Of a taskgroup that the caller has begun. */
void gomp_reductions_register(struct member *self, struct taskgroup *taskgroup,
			      uintptr_t *reductions);

#endif
