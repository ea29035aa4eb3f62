// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * POSIX threads without a task runtime, for the programs that a thesis has measured with threads: a
 * pool of threads, and for each place a stack of tasks, all under one mutex. A waiting thread runs
 * tasks from the stacks.
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
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Signalled at a new item, the end of a group, and the end of all. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct item *stacks[MAX_PLACES];
/* Items that are not over; there is one group of them at a time. */
static size_t left_in_group;
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
	pthread_mutex_unlock(&mutex);
	item->function(item->arg);
	pthread_mutex_lock(&mutex);
	if (!--left_in_group)
		pthread_cond_broadcast(&changed);
}

static void run_or_wait(void)
{
	struct item *item = pop();

	if (item)
		run_item(item);
	else
		pthread_cond_wait(&changed, &mutex);
}

static void add(struct item *item, unsigned int place, par_function *function, void *arg)
{
	*item = (struct item){ NULL, function, arg };
	pthread_mutex_lock(&mutex);
	left_in_group++;
	push(item, place);
	pthread_mutex_unlock(&mutex);
}

static void wait_for_all(void)
{
	pthread_mutex_lock(&mutex);
	while (left_in_group)
		run_or_wait();
	pthread_mutex_unlock(&mutex);
}

struct block {
	struct item item;
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

	for (unsigned int i = workers; i--; ) {
		blocks[i].begin = begin + count * i / workers;
		blocks[i].end = begin + count * (i + 1) / workers;
		blocks[i].body = body;
		blocks[i].arg = arg;
		if (i)
			add(&blocks[i].item, PAR_ANYWHERE, run_block, &blocks[i]);
	}
	run_block(&blocks[0]);
	wait_for_all();
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
#define PAR_EACH par_for

/* Without edges: no program of these has any. */
struct par_node {
	struct item item;
};

static void par_node(struct par_node *node, unsigned int place, par_function *function, void *arg,
		     struct par_node *before, struct par_node *before_too)
{
	add(&node->item, place, function, arg);
}

static void par_graph(void (*make)(struct par_node *nodes, void *arg), struct par_node *nodes,
		      size_t count, void *arg)
{
	make(nodes, arg);
	wait_for_all();
}

#include "theses/parallel/loops.h"
#include "theses/parallel/cachestress.h"

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
	while (!stopping)
		run_or_wait();
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

#define FORM(name, form) { #name, form##_run },

static const struct bench_form forms[] = {
	JAVA_GRANDE(FORM) CACHESTRESS(FORM) FORM(cg, cg)
	{ 0, 0 }
};

const struct bench_runtime bench_runtime = {
	.name = "pthreads", .start = start, .stop = stop, .enter = enter, .forms = forms,
};
