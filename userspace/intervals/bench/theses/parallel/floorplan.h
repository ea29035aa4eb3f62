/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct floorplan_child {
	struct bench_floorplan plan;
	struct par_task task;
};

static void floorplan_task(void *arg);

/* On the heap: a cell has too many ways for the stacks of deep searches. */
static void floorplan_next_cell(const struct bench_floorplan *plan)
{
	unsigned int ways = floorplan_ways(plan), count = 0;
	struct floorplan_child *children =
		(struct floorplan_child *)malloc(ways * sizeof(struct floorplan_child));
	PAR_SCOPE(scope);

	/* Without memory nothing is found below, and the check fails. */
	if (!children)
		return;
	for (unsigned int way = 0; way < ways; way++) {
		struct floorplan_child *child = &children[count];

		if (!floorplan_place(plan, way, &child->plan))
			continue;
		count++;
		par_spawn(&scope, &child->task, floorplan_task, &child->plan);
	}
	par_sync(&scope);
	free(children);
}

static void floorplan_task(void *arg)
{
	struct bench_floorplan *plan = (struct bench_floorplan *)arg;

	if (floorplan_complete(plan))
		floorplan_keep(plan);
	else
		floorplan_next_cell(plan);
}

static void floorplan_run(void)
{
	floorplan_task(&bench_floorplan);
}
