/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that are loops, over a function of a range. */
#define LOOP_BODY(name, call) \
	static void name(size_t begin, size_t end, void *arg) \
	{ \
		call; \
	}

LOOP_BODY(series_part, series_terms(begin, end))

static void series_run(void)
{
	PAR_EACH(0, bench_series.n, series_part, NULL);
}

LOOP_BODY(crypt_encrypt_part, crypt_encrypt(begin, end))
LOOP_BODY(crypt_decrypt_part, crypt_decrypt(begin, end))

static void crypt_run(void)
{
	par_for(0, bench_crypt.blocks, crypt_encrypt_part, NULL);
	par_for(0, bench_crypt.blocks, crypt_decrypt_part, NULL);
}

LOOP_BODY(jgf_sor_part, jgf_sor_pairs(begin, end, *(unsigned int *)arg))

static void jgf_sor_run(void)
{
	for (unsigned int i = 0; i < 2 * JGF_SOR_ITERATIONS; i++) {
		unsigned int colour = i % 2;

		PAR_EACH(0, jgf_sor_count(colour), jgf_sor_part, &colour);
	}
}

LOOP_BODY(lufact_part, lufact_columns(*(size_t *)arg, begin, end))

static void lufact_run(void)
{
	for (size_t k = 0; k < bench_lufact.n; k++) {
		lufact_pivot(k);
		par_for(k + 1, bench_lufact.n, lufact_part, &k);
	}
	lufact_solve();
}

LOOP_BODY(montecarlo_part, montecarlo_paths(begin, end))

static void montecarlo_run(void)
{
	PAR_EACH(0, bench_montecarlo.paths, montecarlo_part, NULL);
}

LOOP_BODY(raytracer_part, raytracer_rows(begin, end))

static void raytracer_run(void)
{
	PAR_DEAL(0, bench_raytracer.n, raytracer_part, NULL);
}

LOOP_BODY(moldyn_move_part, moldyn_move(begin, end))
LOOP_BODY(moldyn_pairs_part, moldyn_pairs(begin, end))
LOOP_BODY(moldyn_accelerate_part, moldyn_accelerate(begin, end))

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

LOOP_BODY(cg_part, cg_parts(*(enum cg_phase *)arg, begin, end))

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
