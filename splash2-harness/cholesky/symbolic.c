// SPDX-License-Identifier: GPL-2.0
/*
 * From a matrix and an order of elimination to the factor's panels and blocks:
 *
 *	elimination tree	J. W. H. Liu, "The Role of Elimination Trees in Sparse
 *				Factorization" (SIAM J. Matrix Analysis 11, 1990)
 *	supernodes, relaxed	C. Ashcraft, R. Grimes, "The Influence of Relaxed
 *				Supernode Partitions on the Multifrontal Method" (ACM
 *				TOMS 15, 1989)
 *	panels and blocks	E. Rothberg, A. Gupta, "An Efficient Block-Oriented
 *				Approach to Parallel Sparse Cholesky Factorization" (SIAM
 *				J. Scientific Computing 15, 1994)
 */
#include <stdlib.h>
#include <string.h>

#include "common/splash.h"
#include "symbolic.h"

#define NONE UINT32_MAX

/* A supernode may take up the one before it while this part of both, or less, is zeros. */
#define MAX_ZEROS 0.15

/* The matrix after the permutation: its entries above the diagonal, by columns. */
struct upper {
	uint32_t n;
	uint64_t *start;
	uint32_t *row;
};

/* A set of adjacent columns while supernodes are being merged. */
struct supernode {
	uint32_t first, width;
	uint32_t rows;		/* of the first column, itself included */
	uint64_t entries;	/* of the factor, without zeros that merging stores */
};

static uint32_t *inverse(const uint32_t *order, uint32_t n)
{
	uint32_t *place = splash_alloc(n, sizeof(*place));

	for (uint32_t i = 0; i < n; i++)
		place[order[i]] = i;
	return place;
}

static struct upper permute(const struct matrix *a, const uint32_t *order)
{
	struct upper u = { .n = a->n };
	uint32_t *place = inverse(order, a->n);

	u.start = splash_alloc((size_t)a->n + 2, sizeof(*u.start));
	u.row = splash_alloc(a->start[a->n] - a->n, sizeof(*u.row));
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t j = 0; j < a->n; j++)
			for (uint64_t e = a->start[j] + 1; e < a->start[j + 1]; e++) {
				uint32_t p = place[j], q = place[a->row[e]];
				uint32_t row = p < q ? p : q, column = p < q ? q : p;

				/* First count, two places on; then fill, one place on. */
				if (pass)
					u.row[u.start[column + 1]++] = row;
				else
					u.start[column + 2]++;
			}
		if (!pass)
			for (uint32_t j = 2; j <= a->n + 1; j++)
				u.start[j] += u.start[j - 1];
	}
	free(place);
	return u;
}

static void free_upper(struct upper *u)
{
	free(u->start);
	free(u->row);
}

/* parent[j]: the first row below the diagonal of column j of the factor. */
static uint32_t *elimination_tree(const struct upper *u)
{
	uint32_t *parent = splash_alloc(u->n, sizeof(*parent));
	uint32_t *ancestor = splash_alloc(u->n, sizeof(*ancestor));

	for (uint32_t j = 0; j < u->n; j++) {
		parent[j] = NONE;
		ancestor[j] = NONE;
		for (uint64_t e = u->start[j]; e < u->start[j + 1]; e++) {
			uint32_t i = u->row[e], next;

			/* Up to the root that i has so far, which gets j as its parent. */
			for (; i != NONE && i != j; i = next) {
				next = ancestor[i];
				ancestor[i] = j;
				if (next == NONE)
					parent[i] = j;
			}
		}
	}
	free(ancestor);
	return parent;
}

/* The order that visits children before parents, and each subtree without a break. */
static uint32_t *postorder(const uint32_t *parent, uint32_t n)
{
	uint32_t *first_child = splash_alloc((size_t)n + 1, sizeof(*first_child));
	uint32_t *sibling = splash_alloc(n, sizeof(*sibling));
	uint32_t *post = splash_alloc(n, sizeof(*post)), done = 0;

	for (uint32_t j = 0; j <= n; j++)
		first_child[j] = NONE;
	/* n stands for the root of all roots. */
	for (uint32_t j = n; j-- > 0;) {
		uint32_t p = parent[j] == NONE ? n : parent[j];

		sibling[j] = first_child[p];
		first_child[p] = j;
	}
	for (uint32_t j = n;;) {
		uint32_t child = first_child[j];

		if (child != NONE) {
			first_child[j] = sibling[child];
			j = child;
			continue;
		}
		if (j == n)
			break;
		post[done++] = j;
		j = parent[j] == NONE ? n : parent[j];
	}
	free(first_child);
	free(sibling);
	return post;
}

/* Entries of each column of the factor, by walking each row's subtree of the tree. */
static uint32_t *count_columns(const struct upper *u, const uint32_t *parent)
{
	uint32_t *count = splash_alloc(u->n, sizeof(*count));
	uint32_t *visited = splash_alloc(u->n, sizeof(*visited));

	for (uint32_t j = 0; j < u->n; j++)
		visited[j] = NONE;
	for (uint32_t i = 0; i < u->n; i++) {
		visited[i] = i;
		count[i]++;
		for (uint64_t e = u->start[i]; e < u->start[i + 1]; e++)
			for (uint32_t j = u->row[e]; visited[j] != i; j = parent[j]) {
				visited[j] = i;
				count[j]++;
			}
	}
	free(visited);
	return count;
}

/* Is the upper supernode the parent of the lower one, and are there few zeros in both as one? */
static bool can_merge(const struct supernode *lower, const struct supernode *upper,
		      const uint32_t *parent)
{
	uint64_t width = lower->width + upper->width, rows = upper->rows + lower->width;
	uint64_t stored = width * rows - width * (width - 1) / 2;

	if (parent[upper->first - 1] != upper->first)
		return false;
	return (double)(stored - lower->entries - upper->entries) <= MAX_ZEROS * (double)stored;
}

/*
 * Columns of the same structure become a supernode as they come, and the last one takes
 * up what is before it as long as few zeros come in. Returns how many there are.
 */
static uint32_t find_supernodes(const uint32_t *parent, const uint32_t *count, uint32_t n,
				struct supernode *supernodes)
{
	uint32_t found = 0;

	for (uint32_t j = 0; j < n;) {
		struct supernode s = { .first = j, .rows = count[j] };

		do
			s.entries += count[j++];
		while (j < n && parent[j - 1] == j && count[j - 1] == count[j] + 1);
		s.width = j - s.first;
		while (found && can_merge(&supernodes[found - 1], &s, parent)) {
			const struct supernode *lower = &supernodes[--found];

			s.first = lower->first;
			s.width += lower->width;
			s.rows += lower->width;
			s.entries += lower->entries;
		}
		supernodes[found++] = s;
	}
	return found;
}

/*
 * The rows of each supernode: its columns, and every later row whose subtree of the
 * elimination tree it is in. A supernode is a path of that tree: the way up from one of
 * its columns leads to its last. Rows are found in ascending order.
 */
static void find_rows(const struct upper *u, const uint32_t *parent,
		      const struct supernode *supernodes, uint32_t count, uint32_t **rows)
{
	uint32_t *supernode_of = splash_alloc(u->n, sizeof(*supernode_of));
	uint32_t *visited = splash_alloc(count, sizeof(*visited));
	uint32_t *filled = splash_alloc(count, sizeof(*filled));

	for (uint32_t s = 0; s < count; s++) {
		visited[s] = NONE;
		for (; filled[s] < supernodes[s].width; filled[s]++) {
			rows[s][filled[s]] = supernodes[s].first + filled[s];
			supernode_of[supernodes[s].first + filled[s]] = s;
		}
	}
	for (uint32_t i = 0; i < u->n; i++) {
		visited[supernode_of[i]] = i;
		for (uint64_t e = u->start[i]; e < u->start[i + 1]; e++) {
			uint32_t s = supernode_of[u->row[e]];

			while (visited[s] != i) {
				visited[s] = i;
				rows[s][filled[s]++] = i;
				s = supernode_of[parent[supernodes[s].first +
							supernodes[s].width - 1]];
			}
		}
	}
	free(supernode_of);
	free(visited);
	free(filled);
}

/* Cuts supernodes into panels of nearly the same width. */
static void make_panels(struct factor *f, const struct supernode *supernodes, uint32_t **rows,
			uint32_t max_width)
{
	uint32_t made = 0;

	for (uint32_t s = 0; s < f->supernodes; s++)
		f->panels += (supernodes[s].width + max_width - 1) / max_width;
	f->panel = splash_alloc(f->panels, sizeof(*f->panel));
	f->panel_of = splash_alloc(f->n, sizeof(*f->panel_of));
	for (uint32_t s = 0; s < f->supernodes; s++) {
		const struct supernode *super = &supernodes[s];
		uint32_t pieces = (super->width + max_width - 1) / max_width;

		for (uint32_t k = 0; k < pieces; k++, made++) {
			struct panel *p = &f->panel[made];
			uint64_t begin, end;

			splash_share(super->width, pieces, k, &begin, &end);
			p->first = super->first + (uint32_t)begin;
			p->width = (uint32_t)(end - begin);
			p->rows = super->rows - (uint32_t)begin;
			p->row = rows[s] + begin;
			for (uint32_t j = 0; j < p->width; j++)
				f->panel_of[p->first + j] = made;
			f->entries += (uint64_t)p->rows * p->width;
		}
	}
	for (uint32_t k = 0; k < f->panels; k++) {
		struct panel *p = &f->panel[k];

		p->parent = p->rows > p->width ? f->panel_of[p->row[p->width]] : NO_PANEL;
	}
}

/* Where the next block of a panel begins, after the one that has `row` as its first. */
static uint32_t block_end(const struct factor *f, const struct panel *p, uint32_t row)
{
	uint32_t row_panel = f->panel_of[p->row[row]];

	while (row < p->rows && f->panel_of[p->row[row]] == row_panel)
		row++;
	return row;
}

static void make_blocks(struct factor *f)
{
	uint32_t made = 0;
	double *value;

	for (uint32_t k = 0; k < f->panels; k++)
		for (uint32_t r = 0; r < f->panel[k].rows; r = block_end(f, &f->panel[k], r))
			f->blocks++;
	f->block = splash_alloc(f->blocks, sizeof(*f->block));
	f->value_storage = splash_alloc(f->entries, sizeof(*f->value_storage));
	value = f->value_storage;
	for (uint32_t k = 0; k < f->panels; k++) {
		struct panel *p = &f->panel[k];

		p->value = value;
		p->first_block = made;
		for (uint32_t r = 0, end; r < p->rows; r = end) {
			struct block *b = &f->block[made++];

			end = block_end(f, p, r);
			b->panel = k;
			b->row_panel = f->panel_of[p->row[r]];
			b->first_row = r;
			b->rows = end - r;
			b->value = value + (size_t)r * p->width;
		}
		p->blocks = made - p->first_block;
		value += (size_t)p->rows * p->width;
	}
}

/* Its place in a panel's list of rows. */
static uint32_t find_row(const struct panel *p, uint32_t row)
{
	uint32_t low = 0, high = p->rows;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (p->row[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void put_values(struct factor *f, const struct matrix *a)
{
	uint32_t *place = inverse(f->order, f->n);

	for (uint32_t j = 0; j < a->n; j++)
		for (uint64_t e = a->start[j]; e < a->start[j + 1]; e++) {
			uint32_t i = place[a->row[e]], k = place[j];
			uint32_t column = i < k ? i : k, row = i < k ? k : i;
			struct panel *p = &f->panel[f->panel_of[column]];

			p->value[(size_t)find_row(p, row) * p->width + column - p->first] =
				a->value[e];
		}
	free(place);
}

static void reorder(uint32_t *order, const uint32_t *post, uint32_t n)
{
	uint32_t *old = splash_alloc(n, sizeof(*old));

	memcpy(old, order, n * sizeof(*old));
	for (uint32_t i = 0; i < n; i++)
		order[i] = old[post[i]];
	free(old);
}

/* The tree of the postordered matrix, which is `*u` afterwards. */
static uint32_t *postordered_tree(const struct matrix *a, uint32_t *order, struct upper *u)
{
	uint32_t *parent, *post;

	*u = permute(a, order);
	parent = elimination_tree(u);
	free_upper(u);
	post = postorder(parent, a->n);
	reorder(order, post, a->n);
	free(post);
	free(parent);
	*u = permute(a, order);
	return elimination_tree(u);
}

struct factor factor_prepare(const struct matrix *a, uint32_t *order, uint32_t width)
{
	struct factor f = { .n = a->n, .order = order };
	struct supernode *supernodes = splash_alloc(a->n, sizeof(*supernodes));
	struct upper u;
	uint32_t *parent = postordered_tree(a, order, &u), *count = count_columns(&u, parent);
	uint32_t **rows;
	uint64_t total = 0;

	f.supernodes = find_supernodes(parent, count, a->n, supernodes);
	for (uint32_t s = 0; s < f.supernodes; s++)
		total += supernodes[s].rows;
	f.row_storage = splash_alloc(total, sizeof(*f.row_storage));
	rows = splash_alloc(f.supernodes, sizeof(*rows));
	total = 0;
	for (uint32_t s = 0; s < f.supernodes; s++) {
		rows[s] = f.row_storage + total;
		total += supernodes[s].rows;
	}
	find_rows(&u, parent, supernodes, f.supernodes, rows);
	make_panels(&f, supernodes, rows, width);
	make_blocks(&f);
	put_values(&f, a);

	free(supernodes);
	free_upper(&u);
	free(parent);
	free(count);
	free(rows);
	return f;
}

uint32_t factor_find_block(const struct factor *f, uint32_t row_panel, uint32_t panel)
{
	const struct panel *p = &f->panel[panel];
	uint32_t low = p->first_block, high = p->first_block + p->blocks;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (f->block[middle].row_panel <= row_panel)
			low = middle;
		else
			high = middle;
	}
	return low;
}
