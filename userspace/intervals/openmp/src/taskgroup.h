/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GOMP_TASKGROUP_H
#define GOMP_TASKGROUP_H

#include "gomp.h"

/*
 * In which the tasks of a taskgroup, NULL: none, are counted. Those of a worksharing construct's are
 * waited for at its barrier, like those of no taskgroup.
 */
static inline struct ivl_group *gomp_group_of(const struct member *self,
					      struct taskgroup *taskgroup)
{
	while (taskgroup && taskgroup->workshare)
		taskgroup = taskgroup->outer;
	return taskgroup ? &taskgroup->group : &self->team->tasks.group;
}

/* Of the caller's task, around what it creates from now on; and all of that has ended. */
struct taskgroup *gomp_taskgroup_begin(struct member *self);
void gomp_taskgroup_end(struct member *self);

#endif
