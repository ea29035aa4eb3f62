// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The space that asyncs take (SLAW, theorem 3.3; Documentation/design.rst, "Space"):
 * how many have begun and not ended, each with a stack, and how many of a worker's are fresh.
 */
#include "test_runtimes.h"

#include "worker.h"

#define WORKERS 4		/* at most */

/* A counter and its maximum. */
static struct {
	_Atomic int begun, most_begun;
	_Atomic int fresh[WORKERS], most_fresh;		/* of the worker that made them */
	_Atomic long ran;
} counts;

struct async {
	ivl_function *function;
	int arg;
	unsigned int maker;
};

static void at_least(_Atomic int *most, int seen)
{
	int before = atomic_load(most);

	while (seen > before && !atomic_compare_exchange_weak(most, &before, seen))
		;
}

/* Called by the worker itself, outside any async. */
static void look_at_fresh(void)
{
	at_least(&counts.most_fresh, atomic_load(&counts.fresh[ivl_self()->number]));
}

static void begin(void)
{
	at_least(&counts.most_begun, atomic_fetch_add(&counts.begun, 1) + 1);
}

static void end(void)
{
	atomic_fetch_sub(&counts.begun, 1);
	atomic_fetch_add(&counts.ran, 1);
}

static void run(void *arg)
{
	struct async *async = arg;

	atomic_fetch_sub(&counts.fresh[async->maker], 1);
	begin();
	look_at_fresh();
	/* Let thieves come. */
	for (volatile int i = 0; i < 1000; i++)
		;
	async->function(&async->arg);
	end();
}

static void make(enum ivl_policy policy, ivl_function *function, int arg)
{
	struct async async = { function, arg, ivl_self()->number };

	atomic_fetch_add(&counts.fresh[async.maker], 1);
	assert_int_equal(ivl_async_by(policy, run, &async, sizeof(async), NULL), 0);
	look_at_fresh();
}

/* The programs, each called with its size as a task of its own. */

static void loop(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		make(IVL_ADAPTIVE, test_no_task, 0);
}

static void fib(void *arg);

static void fib_children(void *arg)
{
	make(IVL_ADAPTIVE, fib, *(int *)arg - 1);
	make(IVL_ADAPTIVE, fib, *(int *)arg - 2);
}

static void fib(void *arg)
{
	if (*(int *)arg >= 2)
		ivl_finish(fib_children, arg);
}

/* Escaping asyncs, all of one finish. */
static void tree(void *arg)
{
	for (int i = 0; i < 2 && *(int *)arg; i++)
		make(IVL_ADAPTIVE, tree, *(int *)arg - 1);
}

/* A loop of immediate calls, each with a finish whose last async belongs to another finish. */
static void leave_one(void *arg)
{
	make(IVL_HELP_FIRST, test_no_task, 0);
}

static void with_async(void *arg)
{
	make(IVL_HELP_FIRST, leave_one, 0);
}

static void with_finish(void *arg)
{
	ivl_finish(with_async, arg);
}

static void loop_of_finishes(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		make(IVL_WORK_FIRST, with_finish, 0);
}

/* SLAW, Figure 1, on a torus: depth first. */
#define SIDE 64

static _Atomic bool labelled[SIDE * SIDE];

static void depth_first(void *arg)
{
	const int x = *(int *)arg % SIDE, y = *(int *)arg / SIDE;
	const int neighbours[] = {
		(x + 1) % SIDE + y * SIDE, (x + SIDE - 1) % SIDE + y * SIDE,
		x + (y + 1) % SIDE * SIDE, x + (y + SIDE - 1) % SIDE * SIDE,
	};

	for (int i = 0; i < 4; i++)
		if (!atomic_exchange(&labelled[neighbours[i]], true))
			make(IVL_ADAPTIVE, depth_first, neighbours[i]);
}

static void search(void *arg)
{
	for (int i = 0; i < SIDE * SIDE; i++)
		atomic_store(&labelled[i], !i);
	depth_first(arg);
}

struct program {
	const char *name;
	ivl_function *function;
	int size;
	long asyncs;
	int depth;			/* S1, in tasks: of the tree of all of them */
};

static const struct program programs[] = {
	{ "loop", loop, 2000, 2000, 2 },
	{ "fib", fib, 14, 1218, 14 },
	{ "tree", tree, 10, 2046, 11 },
	{ "loop of finishes", loop_of_finishes, 500, 1500, 4 },
};

OK_BODY(program_body, void *arg)
{
	const struct program *program = arg;
	int size = program->size;

	begin();
	ivl_finish(program->function, &size);
	end();
}

/* Returns how many stacks the runtime has made. */
static int run_program(const struct ivl_config *config, const struct program *program)
{
	TEST_RUNTIME(runtime, config);
	int stacks;

	memset(&counts, 0, sizeof(counts));
	test_run(runtime, program_body, (void *)program);
	stacks = (int)test_counts(runtime).fibers;
	assert_int_equal(atomic_load(&counts.begun), 0);
	assert_int_equal(atomic_load(&counts.ran), program->asyncs + 1);
	print_message("# %s, %s, %u workers, S %u, F %u: %d begun, %d fresh, %d stacks\n",
		      program->name, ivl_queue_name(config->queue), config->workers,
		      config->adapt_stack, config->adapt_fresh, atomic_load(&counts.most_begun),
		      atomic_load(&counts.most_fresh), stacks);
	return stacks;
}

static struct ivl_config space_config(unsigned int workers, unsigned int stack, unsigned int fresh)
{
	struct ivl_config config = test_config(workers);

	config.statistics = true;
	config.adapt_stack = stack;
	config.adapt_fresh = fresh;
	/* Help-first wherever allowed. */
	config.adapt_interval = 1 << 20;
	return config;
}

/* Queues whose owner takes the newest task, and thieves do not. */
static bool is_stack(enum ivl_queue queue)
{
	return queue != IVL_QUEUE_IDEMPOTENT_FIFO && queue != IVL_QUEUE_SHARED;
}

/* S1 <= S: S1 P stacks, and F fresh tasks of each worker. */
static void bound(const struct program *program, enum ivl_queue queue, unsigned int workers,
		  unsigned int fresh)
{
	struct ivl_config config = space_config(workers, 100, fresh);
	const int most_begun = program->depth * (int)workers;
	/* A thief holds a stolen task for a moment before it begins it. */
	const int most_fresh = (int)(fresh + workers - 1);
	int stacks;

	config.queue = queue;
	stacks = run_program(&config, program);
	assert_true(atomic_load(&counts.most_begun) <= most_begun);
	/* The remaining programs are all adaptive. */
	if (program->function != loop_of_finishes)
		assert_true(atomic_load(&counts.most_fresh) <= most_fresh);
	/* Several workers keep some free stacks. */
	if (workers == 1)
		assert_int_equal(stacks, atomic_load(&counts.most_begun));
}

#define on_workers(workers) for (unsigned int workers = 1; workers <= WORKERS; workers *= 2)

TEST(shallow)
{
	for (enum ivl_queue queue = 0; queue < IVL_QUEUES; queue++)
		for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
			for (unsigned int fresh = 0; fresh <= 8 && is_stack(queue); fresh += 4)
				on_workers(workers)
					bound(&programs[i], queue, workers, fresh);
}

/* S1 > S: as deep as the graph is large, but S + 1 stacks for each worker, and the body's. */
TEST(deep)
{
	static const struct program deep = { "search", search, 0, SIDE * SIDE - 1, SIDE * SIDE };

	for (unsigned int stack = 1; stack <= 16; stack *= 4) {
		on_workers(workers) {
			struct ivl_config config = space_config(workers, stack, 4);
			const int most_begun = (int)((stack + 1) * workers + 1);

			run_program(&config, &deep);
			assert_true(atomic_load(&counts.most_begun) <= most_begun);
		}
	}
}

TEST_MAIN(NULL, NULL)
