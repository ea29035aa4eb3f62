/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One of three operations on a square `a`, by its quarters:
 *
 * lower   a becomes L^-1 a, where `left` has L
 * upper   a becomes a U^-1, where `right` has U
 * update  a -= left * right
 *
 * An operation reads only the matrices that it names.
 */
struct lu_call {
	struct bench_square a, left, right;
	size_t size;
};

static void lu_update(void *arg);

/* All quarters at the same time, by the first half of the sum, then by the second. */
static void lu_update_quarters(const struct lu_call *call, unsigned int step)
{
	size_t half = call->size / 2;
	struct lu_call quarters[4];
	struct par_task tasks[3];
	PAR_SCOPE(scope);

	for (unsigned int i = 0; i < 4; i++) {
		quarters[i].a = square_part(call->a, half, i / 2, i % 2);
		quarters[i].left = square_part(call->left, half, i / 2, step);
		quarters[i].right = square_part(call->right, half, step, i % 2);
		quarters[i].size = half;
		if (i < 3)
			par_spawn(&scope, &tasks[i], lu_update, &quarters[i]);
	}
	lu_update(&quarters[3]);
	par_sync(&scope);
}

static void lu_update(void *arg)
{
	struct lu_call *call = (struct lu_call *)arg;

	if (call->size == LU_LEAF) {
		square_update(LU_LEAF, call->a, call->left, call->right);
		return;
	}
	lu_update_quarters(call, 0);
	lu_update_quarters(call, 1);
}

static void lu_lower(void *arg);

/* One half of the columns: the upper quarter, the update of the lower one, the lower one. */
static void lu_lower_half(void *arg)
{
	struct lu_call *call = (struct lu_call *)arg;
	size_t half = call->size;
	struct bench_square below = square_part(call->a, half, 1, 0);
	struct lu_call upper = { call->a, call->left, call->right, half };
	struct lu_call update = { below, square_part(call->left, half, 1, 0), call->a, half };
	struct lu_call lower = { below, square_part(call->left, half, 1, 1), call->right, half };

	lu_lower(&upper);
	lu_update(&update);
	lu_lower(&lower);
}

static void lu_lower(void *arg)
{
	struct lu_call *call = (struct lu_call *)arg;
	size_t half = call->size / 2;
	struct lu_call first = { call->a, call->left, call->right, half };
	struct lu_call second = { square_part(call->a, half, 0, 1), call->left, call->right, half };

	if (call->size == LU_LEAF) {
		square_lower(LU_LEAF, call->left, call->a);
		return;
	}
	PAR_FORK2(lu_lower_half, &first, lu_lower_half(&second));
}

static void lu_upper(void *arg);

/* One half of the rows, as above. */
static void lu_upper_half(void *arg)
{
	struct lu_call *call = (struct lu_call *)arg;
	size_t half = call->size;
	struct bench_square beside = square_part(call->a, half, 0, 1);
	struct lu_call left = { call->a, call->left, call->right, half };
	struct lu_call update = { beside, call->a, square_part(call->right, half, 0, 1), half };
	struct lu_call right = { beside, call->left, square_part(call->right, half, 1, 1), half };

	lu_upper(&left);
	lu_update(&update);
	lu_upper(&right);
}

static void lu_upper(void *arg)
{
	struct lu_call *call = (struct lu_call *)arg;
	size_t half = call->size / 2;
	struct lu_call first = { call->a, call->left, call->right, half };
	struct lu_call second = { square_part(call->a, half, 1, 0), call->left, call->right, half };

	if (call->size == LU_LEAF) {
		square_upper(LU_LEAF, call->right, call->a);
		return;
	}
	PAR_FORK2(lu_upper_half, &first, lu_upper_half(&second));
}

static void lu_decompose(struct bench_square a, size_t size)
{
	size_t half = size / 2;
	struct bench_square beside = square_part(a, half, 0, 1);
	struct bench_square below = square_part(a, half, 1, 0);
	struct bench_square last = square_part(a, half, 1, 1);
	struct lu_call upper = { below, below, a, half };
	struct lu_call lower = { beside, a, beside, half };
	struct lu_call update = { last, below, beside, half };

	if (size == LU_LEAF) {
		square_decompose(LU_LEAF, a);
		return;
	}
	lu_decompose(a, half);
	PAR_FORK2(lu_upper, &upper, lu_lower(&lower));
	lu_update(&update);
	lu_decompose(last, half);
}

static void lu_run(void)
{
	struct bench_square all = { bench_lu.a, bench_lu.n };

	lu_decompose(all, bench_lu.n);
}
