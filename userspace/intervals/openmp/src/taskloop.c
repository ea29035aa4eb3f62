// SPDX-License-Identifier: LGPL-2.1-or-later
/* Taskloops, in terms of iteration numbers. A task's data begin with its range. */
#include "reduction.h"
#include "task.h"
#include "taskgroup.h"

struct head {
	uint64_t begin, end;
	uintptr_t *reductions;		/* if flags have TASK_REDUCTION */
};

struct taskloop {
	uint64_t begin, end, step, count;
	uint64_t tasks;			/* number of tasks, or the grain size */
	unsigned int flags;
};

struct split {
	uint64_t tasks, each, more;	/* the first `more` tasks have one more iteration */
};

static struct split split(const struct taskloop *loop, unsigned int threads)
{
	uint64_t tasks = loop->tasks ? loop->tasks : threads;

	if (loop->flags & TASK_GRAINSIZE && loop->tasks) {
		if (loop->flags & TASK_STRICT)
			return (struct split){ (loop->count - 1) / loop->tasks + 1, loop->tasks,
					       0 };
		tasks = loop->count / loop->tasks;
	}
	if (!tasks)
		tasks = 1;
	if (tasks > loop->count)
		tasks = loop->count;
	return (struct split){ tasks, loop->count / tasks, loop->count % tasks };
}

static void create(struct member *self, const struct taskloop *loop, struct order *order)
{
	const struct split parts = split(loop, gomp_size(self));
	uint64_t at = 0;

	for (uint64_t i = 0; i < parts.tasks; i++) {
		uint64_t next = at + parts.each + (i < parts.more);
		struct head head;

		if (next > loop->count)
			next = loop->count;
		head.begin = loop->begin + at * loop->step;
		head.end = next == loop->count ? loop->end : loop->begin + next * loop->step;
		order->head = &head;
		order->head_bytes = offsetof(struct head, reductions);
		gomp_task_create(self, order);
		at = next;
	}
}

static void run(const struct taskloop *loop, struct order *order)
{
	struct member *self = gomp_member();
	const bool group = !(loop->flags & TASK_NOGROUP);

	order->now = !(loop->flags & TASK_IF);
	/* The priority argument is always valid. */
	order->flags = (loop->flags & (TASK_UNTIED | TASK_FINAL)) | TASK_PRIORITY;
	if (group) {
		struct taskgroup *taskgroup = gomp_taskgroup_begin(self);

		if (loop->flags & TASK_REDUCTION)
			gomp_reductions_register(self, taskgroup,
						 ((struct head *)order->data)->reductions);
	}
	if (loop->count)
		create(self, loop, order);
	if (group)
		gomp_taskgroup_end(self);
}

GOMP_PUBLIC void GOMP_taskloop(void (*function)(void *), void *data,
			       void (*copy)(void *, void *), long bytes, long alignment,
			       unsigned int flags, unsigned long tasks, int priority, long begin,
			       long end, long step)
{
	struct order order = { .function = function, .data = data, .copy = copy,
			       .bytes = (size_t)bytes, .alignment = (size_t)alignment,
			       .priority = priority };
	struct taskloop loop = { .begin = (uint64_t)begin, .end = (uint64_t)end,
				 .step = (uint64_t)step, .tasks = tasks, .flags = flags };

	if (step > 0 && begin < end)
		loop.count = (loop.end - loop.begin - 1) / loop.step + 1;
	else if (step < 0 && begin > end)
		loop.count = (loop.begin - loop.end - 1) / -loop.step + 1;
	run(&loop, &order);
}

GOMP_PUBLIC void GOMP_taskloop_ull(void (*function)(void *), void *data,
				   void (*copy)(void *, void *), long bytes, long alignment,
				   unsigned int flags, unsigned long tasks, int priority,
				   unsigned long long begin, unsigned long long end,
				   unsigned long long step)
{
	struct order order = { .function = function, .data = data, .copy = copy,
			       .bytes = (size_t)bytes, .alignment = (size_t)alignment,
			       .priority = priority };
	struct taskloop loop = { .begin = begin, .end = end, .step = step, .tasks = tasks,
				 .flags = flags };
	const bool up = flags & TASK_UP;

	if (up && begin < end)
		loop.count = (end - begin - 1) / step + 1;
	else if (!up && begin > end)
		loop.count = (begin - end - 1) / -step + 1;
	run(&loop, &order);
}
