/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void cg_part(size_t begin, size_t end, void *arg)
{
	cg_parts(*(enum cg_phase *)arg, begin, end);
}

static void cg_do(enum cg_phase phase)
{
	par_for(0, CG_PARTS, cg_part, &phase);
	cg_sum(phase);
}

static void cg_run(void)
{
	for (unsigned int power = 0; power < CG_POWERS; power++) {
		cg_do(CG_BEGIN);
		for (unsigned int step = 0; step < CG_STEPS; step++) {
			cg_do(CG_MULTIPLY);
			cg_do(CG_STEP);
			cg_do(CG_TURN);
		}
		cg_do(CG_END);
		cg_do(CG_NORMALIZE);
	}
}
