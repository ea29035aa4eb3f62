/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void moldyn_move_part(size_t begin, size_t end, void *arg)
{
	moldyn_move(begin, end);
}

static void moldyn_pairs_part(size_t begin, size_t end, void *arg)
{
	moldyn_pairs(begin, end);
}

static void moldyn_accelerate_part(size_t begin, size_t end, void *arg)
{
	moldyn_accelerate(begin, end);
}

/* Where the suite's threads have a barrier, a loop ends here. */
static void moldyn_run(void)
{
	for (unsigned int step = 0; step < MOLDYN_STEPS; step++) {
		par_for(0, bench_moldyn.atoms, moldyn_move_part, NULL);
		par_for(0, MOLDYN_LANES, moldyn_pairs_part, NULL);
		par_for(0, bench_moldyn.atoms, moldyn_accelerate_part, NULL);
		moldyn_measure(step);
	}
}
