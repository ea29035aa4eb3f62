// SPDX-License-Identifier: GPL-2.0
#include "tasks.h"

/* Tasks that a pool gets from the common memory at once. */
#define REFILL 64

struct queue {
	struct splash_lock lock;
	struct splash_flag flag;
	struct task *head, *tail;
};

struct pool {
	struct splash_lock lock;
	struct task *free;
};

static struct queue *queues;
static struct pool *pools;

static struct splash_lock memory_lock;
static struct task *memory;
static uint64_t memory_used;

void tasks_init(unsigned int threads, uint64_t tasks)
{
	queues = splash_alloc(threads, sizeof(*queues));
	pools = splash_alloc(threads, sizeof(*pools));
	for (unsigned int i = 0; i < threads; i++) {
		splash_lock_init(&queues[i].lock);
		splash_flag_init(&queues[i].flag);
		splash_lock_init(&pools[i].lock);
	}
	splash_lock_init(&memory_lock);
	/* All of a pool's but one may be under way when another asks for more. */
	memory = splash_alloc(tasks + (uint64_t)threads * REFILL, sizeof(*memory));
}

static struct task *refill(struct splash_worker *w)
{
	struct task *first;

	splash_lock(w, &memory_lock);
	first = &memory[memory_used];
	memory_used += REFILL;
	splash_unlock(&memory_lock);

	for (unsigned int i = 0; i < REFILL; i++) {
		first[i].home = w->id;
		first[i].next = i + 1 < REFILL ? &first[i + 1] : NULL;
	}
	return first;
}

static struct task *allocate(struct splash_worker *w)
{
	struct pool *pool = &pools[w->id];
	struct task *task;

	splash_lock(w, &pool->lock);
	if (!pool->free)
		pool->free = refill(w);
	task = pool->free;
	pool->free = task->next;
	splash_unlock(&pool->lock);
	return task;
}

void tasks_free(struct splash_worker *w, struct task *task)
{
	struct pool *pool = &pools[task->home];

	splash_lock(w, &pool->lock);
	task->next = pool->free;
	pool->free = task;
	splash_unlock(&pool->lock);
}

void tasks_send(struct splash_worker *w, unsigned int to, enum task_kind kind, uint32_t block)
{
	struct queue *queue = &queues[to];
	struct task *task = allocate(w);

	task->next = NULL;
	task->kind = kind;
	task->block = block;
	splash_lock(w, &queue->lock);
	if (queue->tail)
		queue->tail->next = task;
	else
		queue->head = task;
	queue->tail = task;
	splash_unlock(&queue->lock);
	splash_flag_set(&queue->flag);
}

/* Clears the flag under the queue's lock: a later put sets it again. */
static struct task *take(struct splash_worker *w, struct queue *queue)
{
	struct task *task;

	splash_lock(w, &queue->lock);
	task = queue->head;
	if (!task) {
		splash_flag_clear(&queue->flag);
	} else {
		queue->head = task->next;
		if (!queue->head)
			queue->tail = NULL;
	}
	splash_unlock(&queue->lock);
	return task;
}

struct task *tasks_receive(struct splash_worker *w)
{
	struct queue *queue = &queues[w->id];
	struct task *task = take(w, queue);

	while (!task) {
		splash_flag_wait(w, &queue->flag);
		task = take(w, queue);
	}
	return task;
}

bool tasks_all_received(unsigned int threads)
{
	for (unsigned int i = 0; i < threads; i++)
		if (queues[i].head)
			return false;
	return true;
}
