/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void health_task(void *arg)
{
	struct bench_village *village = (struct bench_village *)arg;
	struct par_task tasks[HEALTH_BRANCHES];
	unsigned int count = 0;
	PAR_SCOPE(scope);

	for (struct bench_village *below = health_first_below(village); below;
	     below = health_next(below))
		par_spawn(&scope, &tasks[count++], health_task, below);
	par_sync(&scope);
	health_day(village);
}

static void health_run(void)
{
	for (unsigned int day = 0; day < HEALTH_DAYS; day++)
		health_task(bench_health.capital);
}
