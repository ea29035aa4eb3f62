// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Alignment (BOTS): every two of many proteins are aligned at the least cost, gaps having a price
 * of their own, in memory that grows with their length and not with its square (Myers and Miller,
 * 1988). The proteins are ours: each is a descendant of the one before.
 */
#include "theses.h"

#define LONGEST 400
#define OPEN 8			/* the price of a gap, and of each element in it */
#define EXTEND 2

struct bench_alignment bench_alignment;

static struct protein {
	size_t length;
	uint8_t acids[LONGEST];
} *proteins;

/* A step of an alignment: takes the next acid of both proteins, of the first or the second. */
enum step { BOTH, DELETE, INSERT };

static struct script {
	size_t length;
	uint8_t steps[2 * LONGEST];
} *scripts;

/* By groups of amino acids that evolution exchanges (Dayhoff): same, related, neither. */
static int price(uint8_t a, uint8_t b)
{
	/* A C D E F G H I K L M N P Q R S T V W Y */
	static const uint8_t group[20] = {
		0, 1, 2, 2, 3, 0, 4, 5, 4, 5, 5, 2, 0, 2, 4, 0, 0, 5, 3, 3,
	};

	return a == b ? -5 : group[a] == group[b] ? -1 : 3;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int gap(size_t length)
{
	return length ? OPEN + EXTEND * (int)length : 0;
}

static void append(struct script *script, enum step step, size_t count)
{
	memset(script->steps + script->length, step, count);
	script->length += count;
}

/* Parts of two proteins, and the cost of a gap that begins or ends at their ends. */
struct parts {
	const uint8_t *a, *b;
	size_t m, n;
	int before, after;
};

/* Least costs of the first rows of a, or of the last ones backwards, with j of b. */
struct costs {
	int any[LONGEST + 1];		/* with any last step */
	int deleted[LONGEST + 1];	/* if it ends with a deletion */
};

static void cost(const struct parts *parts, size_t rows, bool backwards, struct costs *costs)
{
	int edge = backwards ? parts->after : parts->before;

	for (size_t j = 0; j <= parts->n; j++) {
		costs->any[j] = gap(j);
		costs->deleted[j] = gap(j) + OPEN;
	}
	for (size_t i = 0; i < rows; i++) {
		int diagonal = costs->any[0], inserted, here;

		costs->any[0] = here = edge += EXTEND;
		inserted = here + OPEN;
		for (size_t j = 1; j <= parts->n; j++) {
			uint8_t a = parts->a[backwards ? parts->m - 1 - i : i];
			uint8_t b = parts->b[backwards ? parts->n - j : j - 1];

			inserted = least(inserted, here + OPEN) + EXTEND;
			costs->deleted[j] =
				least(costs->deleted[j], costs->any[j] + OPEN) + EXTEND;
			here = least(least(costs->deleted[j], inserted), diagonal + price(a, b));
			diagonal = costs->any[j];
			costs->any[j] = here;
		}
	}
	costs->deleted[0] = costs->any[0];
}

/* a's only element: deleted next to the cheaper edge, or matched with one of b. */
static void align_one(const struct parts *parts, struct script *script)
{
	int best = least(parts->before, parts->after) + EXTEND + gap(parts->n);
	size_t with = 0;

	for (size_t j = 1; j <= parts->n; j++) {
		int here = gap(j - 1) + price(parts->a[0], parts->b[j - 1]) + gap(parts->n - j);

		if (here < best) {
			best = here;
			with = j;
		}
	}
	if (with) {
		append(script, INSERT, with - 1);
		append(script, BOTH, 1);
		append(script, INSERT, parts->n - with);
		return;
	}
	append(script, DELETE, parts->before < parts->after);
	append(script, INSERT, parts->n);
	append(script, DELETE, parts->before >= parts->after);
}

static void align(struct parts parts, struct script *script);

/* Both sides of row `i`, where `j` of b are used up; a deletion there is one on both sides. */
static void align_sides(const struct parts *parts, size_t i, size_t j, bool deletion,
			struct script *script)
{
	int edge = deletion ? 0 : OPEN;
	size_t deleted = deletion;

	align((struct parts){ parts->a, parts->b, i - deleted, j, parts->before, edge }, script);
	append(script, DELETE, 2 * deleted);
	align((struct parts){ parts->a + i + deleted, parts->b + j, parts->m - i - deleted,
			      parts->n - j, edge, parts->after }, script);
}

static void align_halves(const struct parts *parts, struct script *script)
{
	struct costs upper, lower;
	size_t middle = parts->m / 2, best_j = 0;
	int best = INT32_MAX;
	bool deletion = false;

	cost(parts, middle, false, &upper);
	cost(parts, parts->m - middle, true, &lower);
	for (size_t j = 0; j <= parts->n; j++) {
		int any = upper.any[j] + lower.any[parts->n - j];
		int deleted = upper.deleted[j] + lower.deleted[parts->n - j] - OPEN;

		if (least(any, deleted) < best) {
			best = least(any, deleted);
			best_j = j;
			deletion = deleted < any;
		}
	}
	align_sides(parts, middle, best_j, deletion, script);
}

static void align(struct parts parts, struct script *script)
{
	if (!parts.n)
		append(script, DELETE, parts.m);
	else if (!parts.m)
		append(script, INSERT, parts.n);
	else if (parts.m == 1)
		align_one(&parts, script);
	else
		align_halves(&parts, script);
}

void alignment_pair(size_t i, size_t j)
{
	const struct protein *a = &proteins[i], *b = &proteins[j];

	align((struct parts){ a->acids, b->acids, a->length, b->length, OPEN, OPEN },
	      &scripts[i * bench_alignment.n + j]);
}

/* The steps' cost; INT32_MAX: they are no alignment of these two. */
static int script_cost(const struct protein *a, const struct protein *b,
		       const struct script *script)
{
	size_t i = 0, j = 0;
	int sum = 0;

	for (size_t s = 0; s < script->length; s++) {
		enum step step = script->steps[s];

		if ((step != INSERT && i == a->length) || (step != DELETE && j == b->length))
			return INT32_MAX;
		if (step == BOTH)
			sum += price(a->acids[i], b->acids[j]);
		else
			sum += EXTEND + (s && script->steps[s - 1] == step ? 0 : OPEN);
		i += step != INSERT;
		j += step != DELETE;
	}
	return i == a->length && j == b->length ? sum : INT32_MAX;
}

/* The least cost, by all prefixes and their last steps (Gotoh, 1982). */
static int least_cost(const struct protein *a, const struct protein *b)
{
	int rows[2][LONGEST + 1][3], *end = rows[a->length % 2][b->length];

	for (size_t i = 0; i <= a->length; i++) {
		for (size_t j = 0; j <= b->length; j++) {
			int (*above)[3] = rows[!(i % 2)], (*here)[3] = rows[i % 2];
			int *to = here[j], never = INT32_MAX / 2;

			to[BOTH] = i || j ? never : 0;
			to[DELETE] = to[INSERT] = never;
			for (enum step last = BOTH; last <= INSERT; last++) {
				if (i && j)
					to[BOTH] = least(to[BOTH], above[j - 1][last] +
							 price(a->acids[i - 1], b->acids[j - 1]));
				if (i)
					to[DELETE] = least(to[DELETE], above[j][last] + EXTEND +
							   (last == DELETE ? 0 : OPEN));
				if (j)
					to[INSERT] = least(to[INSERT], here[j - 1][last] + EXTEND +
							   (last == INSERT ? 0 : OPEN));
			}
		}
	}
	return least(end[BOTH], least(end[DELETE], end[INSERT]));
}

static unsigned int draw(uint32_t *state, unsigned int below)
{
	*state = *state * 1664525 + 1013904223;
	return (unsigned int)((uint64_t)*state * below >> 32);
}

/* A fifth of the acids change, and a few are inserted or deleted. */
static void descend(const struct protein *from, struct protein *to, uint32_t *state)
{
	to->length = 0;
	for (size_t i = 0; i < from->length; i++) {
		unsigned int event = draw(state, 40);
		unsigned int copies = event == 0 ? 0 : event == 1 ? 2 : 1;

		for (; copies && to->length < LONGEST; copies--)
			to->acids[to->length++] = event < 10 ? (uint8_t)draw(state, 20)
							     : from->acids[i];
	}
}

static bool allocate(size_t n)
{
	uint32_t state = 1;

	bench_alignment.n = n;
	proteins = calloc(n, sizeof(*proteins));
	scripts = calloc(n * n, sizeof(*scripts));
	if (!proteins || !scripts)
		return false;
	proteins[0].length = LONGEST / 2;
	for (size_t i = 0; i < LONGEST / 2; i++)
		proteins[0].acids[i] = (uint8_t)draw(&state, 20);
	for (size_t i = 1; i < n; i++)
		descend(&proteins[i - 1], &proteins[i], &state);
	return true;
}

static int prepare(unsigned int size)
{
	if (size < 2)
		return EINVAL;
	if (bench_alignment.n != size && !allocate(size))
		return ENOMEM;
	for (size_t i = 0; i < (size_t)size * size; i++)
		scripts[i].length = 0;
	return 0;
}

static bool check(void)
{
	size_t n = bench_alignment.n;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (script_cost(&proteins[i], &proteins[j], &scripts[i * n + j]) !=
			    least_cost(&proteins[i], &proteins[j]))
				return false;
	return true;
}

const struct bench_kernel bench_kernel_alignment = {
	.name = "alignment", .size = 100, .quick_size = 8, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
