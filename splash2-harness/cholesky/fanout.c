// SPDX-License-Identifier: GPL-2.0
/*
 * The numeric factorisation: block fan-out, by E. Rothberg and A. Gupta (see symbolic.c).
 *
 *	BFAC(K)		L_KK from A_KK, of which everything has been subtracted
 *	BDIV(I,K)	L_IK = A_IK L_KK^-T
 *	BMOD(I,J,K)	A_IJ -= L_IK L_JK^T, for I >= J > K
 *
 * A worker first does its domains, alone, and subtracts their updates from the blocks
 * above them. Each of these shared blocks has an owner, which does BFAC or BDIV and every
 * BMOD whose factors are shared. The owner of a completed block sends it to the owners of
 * the blocks that it updates; a receiver multiplies it with the blocks of its panel that
 * it has received before. There is no barrier between the steps, only before the first
 * and after the last.
 *
 *	block lock, one per shared block	its values while something is subtracted,
 *						and how often that is still to be done
 *	queue, pool and memory locks, flags	see tasks.h
 *
 * After the last subtraction the block is its owner's alone until it is complete, and
 * does not change after that. Its readers have received a task that says so.
 */
#include <stdlib.h>

#include "assign.h"
#include "fanout.h"
#include "kernels.h"
#include "tasks.h"

/* A shared block. */
struct target {
	struct splash_lock lock;
	uint32_t pending;	/* under the lock: subtractions to come */
	uint32_t updates;	/* subtractions in all */
	uint32_t block;
	bool updated;		/* the owner's: nothing is to come */
};

struct owner {
	_Alignas(128) uint32_t left;	/* own shared blocks that are not complete */
	bool *received;			/* target -> this worker may use it */
	uint32_t *sent;			/* worker -> block that was last sent there, from 1 */
	double *product;		/* MAX_BLOCK x MAX_BLOCK */
};

static struct factor *f;
static struct assignment as;
static struct target *targets;
static uint32_t *target_of;	/* block -> target, of shared ones */
static struct owner *owners;
static struct splash_barrier barrier;

static void updated(struct splash_worker *w, struct target *t);

static struct target *target_for(uint32_t row_panel, uint32_t panel)
{
	return &targets[target_of[factor_find_block(f, row_panel, panel)]];
}

/* Each pair of blocks below a panel's diagonal block; a block is a pair with itself, too. */
#define for_each_pair(p, upper, lower)							\
	for (uint32_t upper = (p)->first_block + 1;					\
	     upper < (p)->first_block + (p)->blocks; upper++)				\
		for (uint32_t lower = upper; lower < (p)->first_block + (p)->blocks; lower++)

static void count_updates(void)
{
	for (uint32_t k = 0; k < f->panels; k++)
		for_each_pair(&f->panel[k], upper, lower) {
			uint32_t panel = f->block[upper].row_panel;

			if (as.domain[panel] == SHARED)
				target_for(f->block[lower].row_panel, panel)->updates++;
		}
}

/* A worker receives a block at most once, and the owner one task for its updates. */
static uint64_t most_tasks(unsigned int threads)
{
	return (uint64_t)as.shared_blocks * ((uint64_t)threads + 1);
}

void fanout_init(struct factor *factor, unsigned int threads)
{
	uint32_t made = 0;

	f = factor;
	as = assign(f, threads);
	targets = splash_alloc(as.shared_blocks, sizeof(*targets));
	target_of = splash_alloc(f->blocks, sizeof(*target_of));
	owners = splash_alloc(threads, sizeof(*owners));
	for (unsigned int i = 0; i < threads; i++) {
		owners[i].received = splash_alloc(as.shared_blocks, sizeof(bool));
		owners[i].sent = splash_alloc(threads, sizeof(uint32_t));
		owners[i].product = splash_alloc((size_t)MAX_BLOCK * MAX_BLOCK, sizeof(double));
	}
	for (uint32_t b = 0; b < f->blocks; b++) {
		if (as.domain[f->block[b].panel] != SHARED)
			continue;
		splash_lock_init(&targets[made].lock);
		targets[made].block = b;
		target_of[b] = made++;
		owners[as.owner[b]].left++;
	}
	count_updates();
	for (uint32_t t = 0; t < as.shared_blocks; t++)
		targets[t].pending = targets[t].updates;
	tasks_init(threads, most_tasks(threads));
	splash_barrier_init(&barrier, threads);
}

static void factor_diagonal(const struct panel *p)
{
	uint32_t column = kernel_factor(p->value, p->width);

	if (column < p->width)
		splash_refuse("the matrix is not positive definite: elimination makes the pivot of "
			      "equation %u zero or negative", f->order[p->first + column] + 1);
}

static void divide(const struct block *b)
{
	const struct panel *p = &f->panel[b->panel];

	kernel_divide(b->value, b->rows, p->value, p->width);
}

/* Subtracts the product of two blocks of one panel, lower x upper, from a third. */
static void subtract(const struct block *to, const double *product, const struct block *lower,
		     const struct block *upper)
{
	const struct panel *from = &f->panel[lower->panel], *target = &f->panel[to->panel];
	const uint32_t *rows = from->row + lower->first_row;
	const uint32_t *columns = from->row + upper->first_row;
	const uint32_t *to_rows = target->row + to->first_row;
	uint32_t place = 0;

	for (uint32_t i = 0; i < lower->rows; i++) {
		double *row;

		while (to_rows[place] != rows[i])
			place++;
		row = to->value + (size_t)place * target->width;
		for (uint32_t j = 0; j < upper->rows; j++)
			row[columns[j] - target->first] -= product[(size_t)i * upper->rows + j];
	}
}

/* BMOD. Blocks within a domain are its worker's: no lock. */
static void modify(struct splash_worker *w, const struct block *lower, const struct block *upper)
{
	uint32_t width = f->panel[lower->panel].width, pending;
	uint32_t to = factor_find_block(f, lower->row_panel, upper->row_panel);
	double *product = owners[w->id].product;
	struct target *t;

	kernel_multiply(product, lower->value, lower->rows, upper->value, upper->rows, width);
	if (as.domain[upper->row_panel] != SHARED) {
		subtract(&f->block[to], product, lower, upper);
		return;
	}
	t = &targets[target_of[to]];
	splash_lock(w, &t->lock);
	subtract(&f->block[to], product, lower, upper);
	pending = --t->pending;
	splash_unlock(&t->lock);
	if (pending)
		return;
	if (as.owner[to] == w->id)
		updated(w, t);
	else
		tasks_send(w, as.owner[to], TASK_UPDATED, to);
}

static void send_once(struct splash_worker *w, uint32_t to, uint32_t block)
{
	if (owners[w->id].sent[to] == block + 1)
		return;
	owners[w->id].sent[to] = block + 1;
	tasks_send(w, to, TASK_COMPLETE, block);
}

/*
 * A diagonal block goes to the owners of the blocks below it; any other block, L_IK, to the
 * owners of the blocks (I,J) and (J,I), where J is any row of panel K.
 */
static void complete(struct splash_worker *w, uint32_t block)
{
	const struct panel *p = &f->panel[f->block[block].panel];
	uint32_t row_panel = f->block[block].row_panel;

	owners[w->id].left--;
	for (uint32_t b = p->first_block + 1; b < p->first_block + p->blocks; b++) {
		uint32_t other = f->block[b].row_panel;

		if (block == p->first_block)
			send_once(w, as.owner[b], block);
		else if (other < row_panel)
			send_once(w, assign_owner(&as, row_panel, other), block);
		else
			send_once(w, assign_owner(&as, other, row_panel), block);
	}
}

static void divide_and_complete(struct splash_worker *w, uint32_t block)
{
	divide(&f->block[block]);
	complete(w, block);
}

/* An own block that nothing more is subtracted from. */
static void updated(struct splash_worker *w, struct target *t)
{
	const struct panel *p = &f->panel[f->block[t->block].panel];

	t->updated = true;
	if (t->block == p->first_block) {
		factor_diagonal(p);
		complete(w, t->block);
	} else if (owners[w->id].received[target_of[p->first_block]]) {
		divide_and_complete(w, t->block);
	}
}

/* A block that is complete, own or not. */
static void received(struct splash_worker *w, uint32_t block)
{
	const struct panel *p = &f->panel[f->block[block].panel];
	bool *have = owners[w->id].received;

	have[target_of[block]] = true;
	for (uint32_t b = p->first_block + 1; b < p->first_block + p->blocks; b++) {
		const struct block *lower = &f->block[b > block ? b : block];
		const struct block *upper = &f->block[b > block ? block : b];

		if (block == p->first_block) {
			if (as.owner[b] == w->id && targets[target_of[b]].updated)
				divide_and_complete(w, b);
		} else if (have[target_of[b]] &&
			   assign_owner(&as, lower->row_panel, upper->row_panel) == w->id) {
			modify(w, lower, upper);
		}
	}
}

static void do_domains(struct splash_worker *w)
{
	for (uint32_t k = 0; k < f->panels; k++) {
		const struct panel *p = &f->panel[k];

		if (as.domain[k] != w->id)
			continue;
		factor_diagonal(p);
		for (uint32_t b = p->first_block + 1; b < p->first_block + p->blocks; b++)
			divide(&f->block[b]);
		for_each_pair(p, upper, lower)
			modify(w, &f->block[lower], &f->block[upper]);
	}
}

void fanout_work(struct splash_worker *w)
{
	splash_barrier(w, &barrier);
	do_domains(w);
	for (uint32_t t = 0; t < as.shared_blocks; t++)
		if (!targets[t].updates && as.owner[targets[t].block] == w->id)
			updated(w, &targets[t]);
	while (owners[w->id].left) {
		struct task *task = tasks_receive(w);

		if (task->kind == TASK_UPDATED)
			updated(w, &targets[target_of[task->block]]);
		else
			received(w, task->block);
		tasks_free(w, task);
	}
	splash_barrier(w, &barrier);
}

void fanout_check(unsigned int threads, struct verdict *verdict)
{
	if (!tasks_all_received(threads))
		verdict_fail(verdict, "a task was sent and never received");
	for (uint32_t t = 0; t < as.shared_blocks; t++)
		if (targets[t].pending || !targets[t].updated)
			verdict_fail(verdict, "block %u: %u updates are missing", targets[t].block,
				     targets[t].pending);
}
