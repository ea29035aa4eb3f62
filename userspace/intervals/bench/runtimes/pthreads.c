// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * POSIX threads without a task runtime: a pool of threads, and for each place a stack of tasks, all
 * under one mutex. A waiting thread runs tasks from the stacks.
 *
 * Places are the machine's NUMA nodes, to whose CPUs their threads are bound. On a machine with
 * one node, or described by HWLOC_SYNTHETIC, nothing is bound.
 */
#include <hwloc.h>
#include <pthread.h>

#include "parallel/start.h"

#define MAX_PLACES 64

struct item {
	struct item *next;
	par_function *function;
	void *arg;
	size_t *left;			/* of its group, minus one when it is over */
	void (*over)(struct item *item);
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Signalled at a new item, the end of a group, and the end of all. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct item *stacks[MAX_PLACES];
static bool stopping;

static hwloc_topology_t topology;
static unsigned int places, workers;
static pthread_t *threads;
static __thread unsigned int here;	/* the place of this thread */

static void push(struct item *item, unsigned int place)
{
	struct item **stack = &stacks[place == PAR_ANYWHERE ? here : place % places];

	item->next = *stack;
	*stack = item;
	pthread_cond_signal(&changed);
}

static struct item *pop(void)
{
	for (unsigned int i = 0; i < places; i++) {
		struct item **stack = &stacks[(here + i) % places];
		struct item *item = *stack;

		if (item) {
			*stack = item->next;
			return item;
		}
	}
	return NULL;
}

/* Called with the mutex, which is free while the function runs. */
static void run_item(struct item *item)
{
	size_t *left = item->left;

	pthread_mutex_unlock(&mutex);
	item->function(item->arg);
	pthread_mutex_lock(&mutex);
	if (item->over)
		item->over(item);
	if (!--*left)
		pthread_cond_broadcast(&changed);
}

static void run_until(const size_t *left)
{
	while (*left) {
		struct item *item = pop();

		if (item)
			run_item(item);
		else
			pthread_cond_wait(&changed, &mutex);
	}
}

static void wait_for(const size_t *left)
{
	pthread_mutex_lock(&mutex);
	run_until(left);
	pthread_mutex_unlock(&mutex);
}

struct par_scope {
	size_t left;
};

struct par_task {
	struct item item;
};

#define PAR_SCOPE(name) struct par_scope name = { 0 }

static void par_spawn(struct par_scope *scope, struct par_task *task, par_function *function,
		      void *arg)
{
	task->item = (struct item){ NULL, function, arg, &scope->left, NULL };
	pthread_mutex_lock(&mutex);
	scope->left++;
	push(&task->item, PAR_ANYWHERE);
	pthread_mutex_unlock(&mutex);
}

static void par_sync(struct par_scope *scope)
{
	wait_for(&scope->left);
}

#define PAR_FORK2(function, arg, statement) \
	do { \
		PAR_SCOPE(fork_scope); \
		struct par_task fork_task; \
		\
		par_spawn(&fork_scope, &fork_task, function, arg); \
		statement; \
		par_sync(&fork_scope); \
	} while (0)

struct async {
	struct item item;
	char arg[PAR_ASYNC_BYTES] __attribute__((aligned(16)));
};

/* Of the finish that is under way; there is one at a time. */
static size_t asyncs;

static void free_async(struct item *item)
{
	free(item);
}

static void par_async(par_function *function, const void *arg, size_t bytes)
{
	struct async *async = malloc(sizeof(*async));

	if (!async)
		abort();
	memcpy(async->arg, arg, bytes);
	async->item = (struct item){ NULL, function, async->arg, &asyncs, free_async };
	pthread_mutex_lock(&mutex);
	asyncs++;
	push(&async->item, PAR_ANYWHERE);
	pthread_mutex_unlock(&mutex);
}

static void par_finish(par_function *function, void *arg)
{
	function(arg);
	wait_for(&asyncs);
}

struct block {
	struct par_task task;
	size_t begin, end;
	void (*body)(size_t begin, size_t end, void *arg);
	void *arg;
};

static void run_block(void *arg)
{
	struct block *block = arg;

	block->body(block->begin, block->end, block->arg);
}

/* One block for each thread, the first for the caller. */
static void par_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		    void *arg)
{
	size_t count = end - begin;
	struct block blocks[workers];
	PAR_SCOPE(scope);

	for (unsigned int i = workers; i--; ) {
		blocks[i].begin = begin + count * i / workers;
		blocks[i].end = begin + count * (i + 1) / workers;
		blocks[i].body = body;
		blocks[i].arg = arg;
		if (i)
			par_spawn(&scope, &blocks[i].task, run_block, &blocks[i]);
	}
	run_block(&blocks[0]);
	par_sync(&scope);
}

static void deal(size_t begin, size_t end, void *arg)
{
	const struct block *all = arg;

	for (size_t lane = begin; lane < end; lane++)
		for (size_t i = all->begin + lane; i < all->end; i += workers)
			all->body(i, i + 1, all->arg);
}

/* The threads get the indices in turn, the caller the first. */
static void par_deal(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		     void *arg)
{
	struct block all = { .begin = begin, .end = end, .body = body, .arg = arg };

	par_for(0, workers, deal, &all);
}

#define PAR_DEAL par_deal

struct reduction {
	const double *values;
	double sum;
};

static void reduce_block(size_t begin, size_t end, void *arg)
{
	struct reduction *reduction = arg;
	double sum = reduce_part(reduction->values + begin, end - begin);

	pthread_mutex_lock(&mutex);
	reduction->sum += sum;
	pthread_mutex_unlock(&mutex);
}

static double par_reduce(const double *values, size_t count)
{
	struct reduction reduction = { values, 0 };

	par_for(0, count, reduce_block, &reduction);
	return reduction.sum;
}

#include "parallel/scan_blocks.h"

static void par_scan(int64_t *out, const int64_t *in, size_t count)
{
	scan_by_blocks(out, in, count, workers);
}

struct par_node {
	struct item item;
	unsigned int place, before;	/* predecessors left, and 1 until it is made */
	bool over;
	struct edge {
		struct edge *next;
		struct par_node *node;
	} edges[2], *after;
};

/* Of the graph that is being made by this thread. */
static __thread size_t *graph;

static void come_nearer(struct par_node *node)
{
	if (!--node->before)
		push(&node->item, node->place);
}

static void node_over(struct item *item)
{
	struct par_node *node = (struct par_node *)item;

	node->over = true;
	for (struct edge *edge = node->after; edge; edge = edge->next)
		come_nearer(edge->node);
}

static void come_after(struct par_node *node, struct edge *edge, struct par_node *before)
{
	if (!before || before->over)
		return;
	*edge = (struct edge){ before->after, node };
	before->after = edge;
	node->before++;
}

static void par_node(struct par_node *node, unsigned int place, par_function *function, void *arg,
		     struct par_node *before, struct par_node *before_too)
{
	*node = (struct par_node){ .item = { NULL, function, arg, graph, node_over },
				   .place = place, .before = 1 };
	pthread_mutex_lock(&mutex);
	++*graph;
	come_after(node, &node->edges[0], before);
	come_after(node, &node->edges[1], before_too);
	come_nearer(node);
	pthread_mutex_unlock(&mutex);
}

static void par_graph(void (*make)(struct par_node *nodes, void *arg), struct par_node *nodes,
		      size_t count, void *arg)
{
	size_t *around = graph, left = 0;

	graph = &left;
	make(nodes, arg);
	graph = around;
	wait_for(&left);
}

#include "parallel/forms.h"

static void bind_to_place(unsigned int worker)
{
	here = worker * places / workers;
	if (places > 1)
		hwloc_set_cpubind(topology,
				  hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, here)->cpuset,
				  HWLOC_CPUBIND_THREAD);
}

static void *work(void *arg)
{
	bind_to_place((unsigned int)(uintptr_t)arg);
	pthread_mutex_lock(&mutex);
	while (!stopping) {
		struct item *item = pop();

		if (item)
			run_item(item);
		else
			pthread_cond_wait(&changed, &mutex);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* With fewer threads than nodes only the first nodes are places, so each has a thread. */
static int find_places(void)
{
	unsigned int nodes;

	if (hwloc_topology_init(&topology) || hwloc_topology_load(topology))
		return ENOMEM;
	nodes = (unsigned int)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
	places = nodes < workers ? nodes : workers;
	if (places > MAX_PLACES)
		places = MAX_PLACES;
	return 0;
}

static int start_threads(void)
{
	pthread_attr_t attributes;
	int error = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, BENCH_STACK_BYTES);
	for (unsigned int i = 1; i < workers && !error; i++)
		error = pthread_create(&threads[i], &attributes, work, (void *)(uintptr_t)i);
	pthread_attr_destroy(&attributes);
	return error;
}

/* The calling thread is the first of them. */
static int start(unsigned int count)
{
	int error;

	workers = count;
	threads = calloc(workers, sizeof(*threads));
	error = threads ? find_places() : ENOMEM;
	if (error)
		return error;
	bind_to_place(0);
	return start_threads();
}

static void stop(void)
{
	pthread_mutex_lock(&mutex);
	stopping = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	for (unsigned int i = 1; i < workers; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	hwloc_topology_destroy(topology);
}

static void enter(void (*run)(void))
{
	run();
}

const struct bench_runtime bench_runtime = {
	.name = "pthreads", .start = start, .stop = stop, .enter = enter, .forms = par_forms,
};
