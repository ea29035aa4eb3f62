/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GOMP_TASKGROUP_H
#define GOMP_TASKGROUP_H

#include "gomp.h"

/*
 * The group that counts the tasks of a taskgroup (NULL: none). Tasks of a worksharing construct's
 * taskgroup are waited for at its barrier, like tasks without one.
 */
static inline struct ivl_group *gomp_group_of(const struct member *self,
					      struct taskgroup *taskgroup)
{
	while (taskgroup && taskgroup->workshare)
		taskgroup = taskgroup->outer;
	return taskgroup ? &taskgroup->group : &self->team->tasks.group;
}

/* Begin a taskgroup around the caller's new tasks; wait for its end. */
struct taskgroup *gomp_taskgroup_begin(struct member *self);
void gomp_taskgroup_end(struct member *self);

#endif
