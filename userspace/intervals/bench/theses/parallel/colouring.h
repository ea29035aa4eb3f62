/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void colouring_task(void *arg);

static void colouring_next_vertex(struct bench_colouring *colouring)
{
	struct bench_colouring next[COLOURING_MAX];
	struct par_task tasks[COLOURING_MAX];
	unsigned int count = 0;
	PAR_SCOPE(scope);

	for (uint32_t free = colouring_free(colouring); free; free &= free - 1) {
		colouring_colour(colouring, (unsigned int)__builtin_ctz(free), &next[count]);
		par_spawn(&scope, &tasks[count], colouring_task, &next[count]);
		count++;
	}
	par_sync(&scope);
	for (unsigned int i = 0; i < count; i++)
		colouring->count += next[i].count;
}

static void colouring_task(void *arg)
{
	struct bench_colouring *colouring = (struct bench_colouring *)arg;

	if (colouring_complete(colouring))
		colouring->count = 1;
	else
		colouring_next_vertex(colouring);
}

static void colouring_run(void)
{
	colouring_task(&bench_colouring);
}
