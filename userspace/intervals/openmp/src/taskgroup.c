// SPDX-License-Identifier: LGPL-2.1-or-later
/* Taskgroups, and reductions of tasks. */
#include "taskgroup.h"

#include <stdlib.h>
#include <string.h>

#include "reduction.h"

static bool has_tasks(const struct member *self)
{
	return self->team && !self->team->undeferred;
}

static void set_finish(struct member *self, struct taskgroup *taskgroup)
{
	if (has_tasks(self))
		ivl_local()->finish = (struct ivl_finish *)gomp_group_of(self, taskgroup);
}

static struct taskgroup *begin(struct member *self, bool workshare)
{
	struct taskgroup *taskgroup = gomp_allocate(sizeof(*taskgroup));

	taskgroup->group = (struct ivl_group)IVL_GROUP_INIT;
	taskgroup->outer = self->task->taskgroup;
	taskgroup->workshare = workshare;
	self->task->taskgroup = taskgroup;
	set_finish(self, taskgroup);
	return taskgroup;
}

struct taskgroup *gomp_taskgroup_begin(struct member *self)
{
	return begin(self, false);
}

void gomp_taskgroup_end(struct member *self)
{
	struct taskgroup *taskgroup = self->task->taskgroup;

	if (self->team && !taskgroup->workshare)
		gomp_group_wait(taskgroup);
	self->task->taskgroup = taskgroup->outer;
	set_finish(self, taskgroup->outer);
	free(taskgroup);
}

GOMP_PUBLIC void GOMP_taskgroup_start(void)
{
	gomp_taskgroup_begin(gomp_member());
}

GOMP_PUBLIC void GOMP_taskgroup_end(void)
{
	gomp_taskgroup_end(gomp_member());
}

/*
 * The compiler's description of reductions:
 *	[0] count, [1] bytes of a thread's copies, [2] in: alignment, out: their address,
 *	[6] end of the copies; from [7] on, three each: address, offset in the copies
 */
enum { COUNT, BYTES, COPIES, END = 6, FIRST, EACH = 3 };

static void set_copies(struct member *self, uintptr_t *reductions, void *copies)
{
	reductions[COPIES] = (uintptr_t)copies;
	reductions[END] = (uintptr_t)copies + gomp_size(self) * reductions[BYTES];
}

static void *make_copies(unsigned int threads, const uintptr_t *reductions)
{
	const size_t bytes = threads * reductions[BYTES];

	return memset(gomp_allocate_aligned(reductions[COPIES], bytes), 0, bytes);
}

void gomp_reductions_register(struct member *self, struct taskgroup *taskgroup,
			      uintptr_t *reductions)
{
	set_copies(self, reductions, make_copies(gomp_size(self), reductions));
	taskgroup->reductions = reductions;
}

GOMP_PUBLIC void GOMP_taskgroup_reduction_register(uintptr_t *reductions)
{
	struct member *self = gomp_member();

	gomp_reductions_register(self, self->task->taskgroup, reductions);
}

GOMP_PUBLIC void GOMP_taskgroup_reduction_unregister(uintptr_t *reductions)
{
	free((void *)reductions[COPIES]);
}

/* Shared by the team: the first thread's zeroed memory. */
static void *common(_Atomic(void *) *place, void *offer)
{
	void *there = NULL;

	if (atomic_compare_exchange_strong(place, &there, offer))
		return offer;
	free(offer);
	return there;
}

void gomp_reductions_of_share(struct member *self, uintptr_t *reductions)
{
	struct taskgroup *taskgroup = begin(self, true);

	set_copies(self, reductions, common(&self->share->copies,
					    make_copies(gomp_size(self), reductions)));
	taskgroup->reductions = reductions;
}

GOMP_PUBLIC void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
	struct member *self = gomp_member();
	uintptr_t *reductions = self->task->taskgroup->reductions;

	gomp_taskgroup_end(self);
	if (self->number == 0)
		GOMP_taskgroup_reduction_unregister(reductions);
	if (!cancelled)
		GOMP_barrier();
}

void gomp_workshare_memory(struct workshare *share, void **memory)
{
	*memory = common(&share->memory, gomp_allocate((size_t)*memory));
}

/* The thread's copy of what `pointer` is, or is a copy of; and the original. */
static bool remap(const struct member *self, const uintptr_t *reductions, uintptr_t pointer,
		  uintptr_t *copy, uintptr_t *original)
{
	const bool is_copy = pointer >= reductions[COPIES] && pointer < reductions[END];
	const uintptr_t at = (pointer - reductions[COPIES]) % reductions[BYTES];

	for (size_t i = 0; i < reductions[COUNT]; i++) {
		const uintptr_t *one = &reductions[FIRST + EACH * i];

		if (is_copy ? one[1] != at : one[0] != pointer)
			continue;
		*copy = reductions[COPIES] + self->number * reductions[BYTES] + one[1];
		*original = one[0];
		return true;
	}
	return false;
}

static void remap_one(const struct member *self, void **pointer, void **original)
{
	const struct taskgroup *taskgroup = self->task->taskgroup;
	uintptr_t copy, first;

	for (; taskgroup; taskgroup = taskgroup->outer)
		if (taskgroup->reductions &&
		    remap(self, taskgroup->reductions, (uintptr_t)*pointer, &copy, &first))
			break;
	if (!taskgroup && !(self->team && self->team->tasks.reductions &&
			    remap(self, self->team->tasks.reductions, (uintptr_t)*pointer, &copy,
				  &first)))
		gomp_fatal("GOMP_task_reduction_remap: in_reduction of %p is not in an enclosing "
			   "task_reduction", *pointer);
	*pointer = (void *)copy;
	if (original)
		*original = (void *)first;
}

GOMP_PUBLIC void GOMP_task_reduction_remap(size_t count, size_t originals, void **pointers)
{
	const struct member *self = gomp_member();

	for (size_t i = 0; i < count; i++)
		remap_one(self, &pointers[i], i < originals ? &pointers[count + i] : NULL);
}

GOMP_PUBLIC unsigned int GOMP_parallel_reductions(void (*function)(void *), void *data,
						  unsigned int asked, unsigned int flags)
{
	struct member *outside = gomp_member();
	struct team *team = gomp_team_begin(gomp_team_size(outside, asked), flags & 7);
	const unsigned int size = team->size;

	/* The data begin with the description. */
	gomp_reductions_register(gomp_member(), &team->tasks, *(uintptr_t **)data);
	gomp_team_release(team, function, data);
	function(data);
	gomp_team_end();
	return size;
}
