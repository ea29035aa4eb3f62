/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void fj_task(void *arg)
{
	++*(unsigned int *)arg;
}

static void fj_round(void)
{
	struct par_task tasks[FORK_JOIN_TASKS];
	PAR_SCOPE(scope);

	for (unsigned int i = 0; i < FORK_JOIN_TASKS; i++)
		par_spawn(&scope, &tasks[i], fj_task, &bench_fork_join.done[i]);
	par_sync(&scope);
}

static void fj_run(void)
{
	for (unsigned int round = 0; round < bench_fork_join.rounds; round++)
		fj_round();
}

struct fj_range {
	unsigned int begin, end;
};

static void fj_rec_range(unsigned int begin, unsigned int end);

static void fj_rec_task(void *arg)
{
	struct fj_range *range = (struct fj_range *)arg;

	fj_rec_range(range->begin, range->end);
}

static void fj_rec_range(unsigned int begin, unsigned int end)
{
	unsigned int middle = begin + (end - begin) / 2;
	struct fj_range first = { begin, middle };

	if (end - begin == 1) {
		fj_task(&bench_fork_join.done[begin]);
		return;
	}
	PAR_FORK2(fj_rec_task, &first, fj_rec_range(middle, end));
}

static void fj_rec_run(void)
{
	for (unsigned int round = 0; round < bench_fork_join.rounds; round++)
		fj_rec_range(0, FORK_JOIN_TASKS);
}
