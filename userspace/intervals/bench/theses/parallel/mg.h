/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct mg_call {
	enum mg_phase phase;
	unsigned int level;
};

static void mg_part(size_t begin, size_t end, void *arg)
{
	struct mg_call *call = (struct mg_call *)arg;

	mg_planes(call->phase, call->level, begin, end);
}

static void mg_do(par_loop *loop, enum mg_phase phase, unsigned int level)
{
	struct mg_call call = { phase, level };

	loop(0, (size_t)1 << level, mg_part, &call);
}

/* Residuals down to two points, then better solutions up to all. */
static void mg_cycle(par_loop *loop, unsigned int finest)
{
	for (unsigned int level = finest - 1; level >= 1; level--)
		mg_do(loop, MG_COARSEN, level);
	mg_do(loop, MG_CLEAR, 1);
	mg_do(loop, MG_SMOOTH, 1);
	for (unsigned int level = 2; level <= finest; level++) {
		if (level < finest)
			mg_do(loop, MG_CLEAR, level);
		mg_do(loop, MG_REFINE, level);
		mg_do(loop, MG_REMAIN, level);
		mg_do(loop, MG_SMOOTH, level);
	}
}

static void mg_by(par_loop *loop)
{
	mg_do(loop, MG_REMAIN, bench_mg.level);
	for (unsigned int cycle = 0; cycle < MG_CYCLES; cycle++) {
		mg_cycle(loop, bench_mg.level);
		mg_do(loop, MG_REMAIN, bench_mg.level);
	}
}

static void mg_run(void)
{
	mg_by(par_for);
}
