// SPDX-License-Identifier: LGPL-2.1-or-later
#include "env.h"
#include "park.h"
#include "workshare.h"
#include "task.h"

GOMP_PUBLIC bool GOMP_cancellation_point(int which)
{
	const struct member *self = gomp_member();
	const struct team *team = self->team;

	if (!gomp_environment.cancellation)
		return false;
	if (which & CANCEL_TASKGROUP && gomp_task_cancelled(self, self->task))
		return true;
	if (!team)
		return false;
	if (which & (CANCEL_LOOP | CANCEL_SECTIONS) && atomic_load(&team->share_cancelled))
		return true;
	return atomic_load(&team->cancelled);
}

GOMP_PUBLIC bool GOMP_cancel(int which, bool condition)
{
	struct member *self = gomp_member();
	struct team *team = self->team;

	if (!gomp_environment.cancellation)
		return false;
	if (!condition)
		return GOMP_cancellation_point(which);
	if (which & (CANCEL_LOOP | CANCEL_SECTIONS)) {
		/* Outside of regions there is nothing else to cancel. */
		if (team)
			atomic_store(&team->share_cancelled, true);
	} else if (which & CANCEL_TASKGROUP) {
		struct taskgroup *taskgroup = self->task->taskgroup;

		while (taskgroup && taskgroup->workshare && taskgroup->outer)
			taskgroup = taskgroup->outer;
		if (taskgroup)
			atomic_store(&taskgroup->cancelled, true);
	} else if (team) {
		atomic_store(&team->cancelled, true);
		/* Wake waiters in cancellable barriers. */
		gomp_unpark_all(&team->barrier.phase);
	}
	return true;
}
