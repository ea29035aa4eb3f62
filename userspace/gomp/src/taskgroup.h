/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GOMP_TASKGROUP_H
#define GOMP_TASKGROUP_H

#include "gomp.h"

/* Of the caller's task, around what it creates from now on; and all of that has ended. */
struct taskgroup *gomp_taskgroup_begin(struct member *self);
void gomp_taskgroup_end(struct member *self);

#endif
