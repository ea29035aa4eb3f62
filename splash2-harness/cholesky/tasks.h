/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue of tasks per worker, into which all put and from which the worker takes, and
 * the memory of the tasks.
 *
 *	queue lock, one per worker	its queue
 *	queue flag, one per worker	set: something may be in the queue. Its worker
 *					waits here when nothing is
 *	pool lock, one per worker	the worker's free tasks: taken by the worker that
 *					sends, given back by the one that has received
 *	memory lock			the common memory, from which an empty pool is filled
 */
#ifndef CHOLESKY_TASKS_H
#define CHOLESKY_TASKS_H

#include "common/splash.h"

enum task_kind {
	TASK_UPDATED,	/* to the block's owner: all updates of the block are in it */
	TASK_COMPLETE,	/* to the workers that use it: the block is a block of the factor */
};

struct task {
	struct task *next;
	enum task_kind kind;
	uint32_t block;
	unsigned int home;	/* whose pool it is of */
};

/* Room for `tasks` that are under way at once. */
void tasks_init(unsigned int threads, uint64_t tasks);

void tasks_send(struct splash_worker *w, unsigned int to, enum task_kind kind, uint32_t block);

/* The oldest task in the worker's queue, for which it waits. */
struct task *tasks_receive(struct splash_worker *w);

void tasks_free(struct splash_worker *w, struct task *task);

bool tasks_all_received(unsigned int threads);

#endif
