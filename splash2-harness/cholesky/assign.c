// SPDX-License-Identifier: GPL-2.0
/*
 * The assignment of work, after E. Rothberg and A. Gupta (see symbolic.c): subtrees of the
 * elimination tree that are small enough are domains, each of one worker. The blocks of
 * all panels above are dealt out to a grid of workers in two dimensions, so that a
 * block is needed by the workers of one row and one column of that grid only.
 */
#include <stdlib.h>

#include "assign.h"
#include "common/splash.h"

/* Domains to a worker, so that they can be dealt out evenly: this many at least. */
#define DOMAINS_PER_WORKER 4

struct domain {
	uint32_t root;
	double work;
};

static unsigned int grid_rows, grid_columns;

/* Multiplications of a panel: its own, and what it subtracts from those right of it. */
static double panel_work(const struct panel *p)
{
	double work = 0;

	for (uint32_t k = 0; k < p->width; k++)
		work += (double)(p->rows - k) * (p->rows - k);
	return work;
}

static int most_work_first(const void *a, const void *b)
{
	const struct domain *x = a, *y = b;

	if (x->work != y->work)
		return x->work < y->work ? 1 : -1;
	return (x->root > y->root) - (x->root < y->root);
}

/* The largest domain that is left goes to the worker that has least. */
static void deal_domains(struct domain *domains, uint32_t count, uint32_t *domain_of,
			 unsigned int threads)
{
	double *load = splash_alloc(threads, sizeof(*load));

	qsort(domains, count, sizeof(*domains), most_work_first);
	for (uint32_t k = 0; k < count; k++) {
		unsigned int least = 0;

		for (unsigned int t = 1; t < threads; t++)
			if (load[t] < load[least])
				least = t;
		load[least] += domains[k].work;
		domain_of[domains[k].root] = least;
	}
	free(load);
}

static void find_domains(const struct factor *f, uint32_t *domain_of, unsigned int threads)
{
	double *work = splash_alloc(f->panels, sizeof(*work)), total = 0, limit;
	struct domain *domains = splash_alloc(f->panels, sizeof(*domains));
	uint32_t count = 0;

	/* Children are before parents: a panel's sum is complete when it is reached. */
	for (uint32_t k = 0; k < f->panels; k++) {
		uint32_t parent = f->panel[k].parent;
		double own = panel_work(&f->panel[k]);

		total += own;
		work[k] += own;
		if (parent != NO_PANEL)
			work[parent] += work[k];
	}
	limit = total / (DOMAINS_PER_WORKER * (double)threads);
	for (uint32_t k = 0; k < f->panels; k++) {
		uint32_t parent = f->panel[k].parent;

		domain_of[k] = SHARED;
		if (work[k] <= limit && (parent == NO_PANEL || work[parent] > limit))
			domains[count++] = (struct domain){ k, work[k] };
	}
	deal_domains(domains, count, domain_of, threads);
	for (uint32_t k = f->panels; k-- > 0;)
		if (work[k] <= limit && domain_of[k] == SHARED)
			domain_of[k] = domain_of[f->panel[k].parent];
	free(work);
	free(domains);
}

uint32_t assign_owner(const struct assignment *as, uint32_t row_panel, uint32_t panel)
{
	return as->rank[row_panel] % grid_rows * grid_columns + as->rank[panel] % grid_columns;
}

struct assignment assign(const struct factor *f, unsigned int threads)
{
	struct assignment as = { 0 };
	uint32_t ranks = 0;

	for (grid_rows = 1; grid_rows * grid_rows <= threads; grid_rows++)
		if (threads % grid_rows == 0)
			grid_columns = threads / grid_rows;
	grid_rows = threads / grid_columns;

	as.domain = splash_alloc(f->panels, sizeof(*as.domain));
	as.rank = splash_alloc(f->panels, sizeof(*as.rank));
	as.owner = splash_alloc(f->blocks, sizeof(*as.owner));
	find_domains(f, as.domain, threads);
	for (uint32_t k = 0; k < f->panels; k++)
		if (as.domain[k] == SHARED)
			as.rank[k] = ranks++;
	for (uint32_t b = 0; b < f->blocks; b++) {
		const struct block *block = &f->block[b];

		as.owner[b] = as.domain[block->panel];
		if (as.owner[b] == SHARED) {
			as.owner[b] = assign_owner(&as, block->row_panel, block->panel);
			as.shared_blocks++;
		}
	}
	return as;
}
