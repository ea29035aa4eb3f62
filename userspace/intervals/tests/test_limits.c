// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Programs that run out of memory: each promise of the headers in a process of its own, so that an
 * abort or a hang is one failure.
 */
#include "test_child.h"

#include <malloc.h>
#include <sys/resource.h>

#include "intervals_sync.h"
#include "test_allocation.h"

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
char *__real_strdup(const char *string);
char *__wrap_strdup(const char *string);

void *__wrap_malloc(size_t bytes)
{
	return test_allocation_fails() ? NULL : __real_malloc(bytes);
}

char *__wrap_strdup(const char *string)
{
	return test_allocation_fails() ? NULL : __real_strdup(string);
}

/* In a process for each count of `workers`, which this expression uses. */
#define on_all_counts(expression) do { \
	test_on_counts(workers) { \
		print_message("# %u workers\n", workers); \
		assert_int_equal(test_in_child(expression), 0); \
	} \
} while (0)

static ivl_runtime *start(unsigned int workers, enum ivl_policy policy, unsigned int fibers)
{
	struct ivl_config config = test_config(workers);

	config.policy = policy;
	/* Work-first the spawner moves, which INTERVALS_TIED forbids. */
	config.tied = config.tied && policy != IVL_WORK_FIRST;
	if (fibers)
		config.fibers_per_worker = fibers;
	return test_start(&config);
}

/* Memory. */

/* At most `more` bytes beyond the process's present size. */
static void limit_memory(size_t more)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages;
	struct rlimit limit;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	limit.rlim_cur = limit.rlim_max = pages * (size_t)sysconf(_SC_PAGESIZE) + more;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* In less address space the default stack is smaller, so that as many tasks may wait. */
static int look_at_default(void)
{
	static const struct {
		size_t space, stack;
	} expected[] = {
		{ RLIM_INFINITY, 1 << 20 }, { 32l << 30, 1 << 20 }, { 8l << 30, 512 << 10 },
		{ 1l << 30, 256 << 10 },
	};
	struct ivl_config config;

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		const struct rlimit limit = { expected[i].space, RLIM_INFINITY };

		if (setrlimit(RLIMIT_AS, &limit) || ivl_config_init(&config) ||
		    config.stack_bytes != expected[i].stack)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

TEST(default_stack)
{
	if (TEST_SANITIZED)
		test_leave_out("the sanitizers' own memory is beyond any limit");
	assert_int_equal(test_in_child(look_at_default()), 0);
}

#define SPAWNS 3000

static _Atomic int called;

static void call(void *arg)
{
	atomic_fetch_add(&called, 1);
}

OK_BODY(spawn_many, void *arg)
{
	static struct ivl_task tasks[SPAWNS];
	struct ivl_scope scope = IVL_SCOPE_INIT;

	/* Enough for the queue, not for another thread. */
	limit_memory(1 << 20);
	for (int i = 0; i < SPAWNS; i++)
		if (ivl_spawn(&scope, &tasks[i], call, NULL))
			call(NULL);
	ivl_sync(&scope);
}

static int spawn_in_little_memory(unsigned int workers)
{
	ivl_runtime *runtime = start(workers, IVL_ADAPTIVE, 0);
	int error = ivl_run(runtime, spawn_many, NULL);

	ivl_stop(runtime);
	return error || atomic_load(&called) != SPAWNS;
}

/* Limited before the start: memory is left for a few threads, or for one. */
static int start_in_little_memory(unsigned int workers)
{
	limit_memory(workers << 20);
	return spawn_in_little_memory(8);
}

/* The error says what is too large. */
static int start_with_huge_stacks(unsigned int workers)
{
	struct ivl_config config = test_config(workers);
	ivl_runtime *runtime;

	config.stack_bytes = (size_t)4 << 30;
	limit_memory((size_t)1 << 30);
	return ivl_start(&config, &runtime) != ENOMEM ||
	       !strstr(ivl_last_error(), "stack of 4194304 KiB (INTERVALS_STACK");
}

TEST(little_memory)
{
	if (TEST_SANITIZED)
		test_leave_out("the sanitizers' own memory is beyond any limit");
	on_all_counts(spawn_in_little_memory(workers));
	on_all_counts(start_with_huge_stacks(workers));
	for (unsigned int mib = 12; mib <= 100; mib += 8)
		assert_int_equal(test_in_child(start_in_little_memory(mib)), 0);
}

/* A program that makes every kind of allocation. Each fails once, with all after it. */
#define KINDS 40

static _Atomic int done;

static void count_done(void *arg)
{
	atomic_fetch_add(&done, 1);
}

static void asyncs(void *arg)
{
	char large[1000] = { 0 };

	for (int i = 0; i < KINDS; i++)
		if (ivl_async_by(i % IVL_POLICIES, count_done, large,
				 i % 2 ? sizeof(large) : 1, NULL))
			count_done(arg);
}

static struct ivl_key kept;

static int one_interval(ivl_interval *self, void *arg)
{
	int error = ivl_key_set(&kept, &kept);

	if (error)
		return error;
	count_done(arg);
	return 0;
}

/* A chain of guarded intervals. */
static int intervals(ivl_interval *self, void *arg)
{
	ivl_guard *guard = ivl_guard_create(arg, "guard");
	ivl_interval *before = NULL, *made;
	int error = guard ? 0 : ENOMEM;

	for (int i = 0; i < KINDS && !error; i++) {
		made = ivl_create(self, "one", one_interval, NULL, NULL);
		if (!made)
			error = ENOMEM;
		if (!error)
			error = ivl_add_guard(made, guard);
		for (int edges = 0; before && edges < 5 && !error; edges++)
			error = ivl_add_edge(ivl_end_point(before), ivl_start_point(made));
		if (before)
			ivl_release(before);
		before = made;
	}
	if (before)
		ivl_release(before);
	if (guard)
		ivl_guard_release(guard);
	return error;
}

static int all_kinds(ivl_interval *self, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[KINDS];
	ivl_numa_barrier *barrier;
	int error = ivl_numa_barrier_init(&barrier, 1);

	if (!error) {
		ivl_numa_barrier_wait(barrier);
		ivl_numa_barrier_destroy(barrier);
	}
	for (int i = 0; i < KINDS; i++)
		if (ivl_spawn(&scope, &tasks[i], count_done, NULL))
			count_done(NULL);
	ivl_sync(&scope);
	if (atomic_load(&done) != KINDS)
		_exit(EXIT_FAILURE);
	error = error ? error : ivl_finish(asyncs, NULL);
	error = error ? error : ivl_inline("intervals", intervals, arg);
	return error;
}

/* True: it needed more allocations than these. */
static bool fails_after(unsigned int workers, test_enter *run, int allocations)
{
	struct ivl_config config = test_config(workers);
	ivl_runtime *runtime;
	bool all = false;
	int error;

	config.queue_capacity = 2;
	atomic_store(&done, 0);
	test_allocations_left = allocations;
	error = ivl_start(&config, &runtime);
	if (!error) {
		error = run(runtime, all_kinds, runtime);
		all = test_allocations_left > 0;
		test_allocations_left = -1;
		ivl_stop(runtime);
	}
	test_allocations_left = -1;
	if (error ? all || error != ENOMEM : all && atomic_load(&done) != 3 * KINDS)
		_exit(EXIT_FAILURE);
	return !all;
}

static int fail_everywhere(unsigned int workers, test_enter *run)
{
	int allocations = 0;

	ivl_key_init(&kept, NULL);
	while (fails_after(workers, run, allocations))
		allocations++;
	return allocations < 2 * KINDS;
}

TEST(every_allocation)
{
	on_all_counts(fail_everywhere(workers, ivl_run));
	on_all_counts(fail_everywhere(workers, ivl_run_here));
}

/* Stacks: more tasks that wait for each other than there are stacks at first. */

struct crowd {
	unsigned int tasks;
	ivl_numa_barrier *barrier;
	_Atomic unsigned int passed;
	_Atomic int error;
};

ASYNC(meet_twice, struct crowd *crowd)
{
	for (int i = 0; i < 2; i++) {
		ivl_numa_barrier_wait(crowd->barrier);
		atomic_fetch_add(&crowd->passed, 1);
	}
}

TASK(gather, struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->tasks; i++)
		if (ivl_async(meet_twice, &crowd, sizeof(crowd), NULL))
			atomic_store(&crowd->error, ENOMEM);
}

FINISH_BODY(gather_body, gather)

static int meet_in_crowd(unsigned int workers, enum ivl_policy policy, unsigned int fibers,
			 unsigned int tasks, test_enter *run)
{
	struct crowd crowd = { .tasks = tasks };
	ivl_runtime *runtime = start(workers, policy, fibers);
	int error = ivl_numa_barrier_init(&crowd.barrier, crowd.tasks);

	error = error ? error : run(runtime, gather_body, &crowd);
	ivl_stop(runtime);
	return error || atomic_load(&crowd.error) || atomic_load(&crowd.passed) != 2 * tasks;
}

static int meet_5_of_4(unsigned int workers)
{
	return meet_in_crowd(workers, IVL_ADAPTIVE, 4, 4 * workers + 1, ivl_run) ||
	       meet_in_crowd(workers, IVL_HELP_FIRST, 4, 4 * workers + 1, ivl_run) ||
	       meet_in_crowd(workers, IVL_HELP_FIRST, 4, 4 * workers + 1, ivl_run_here);
}

TEST(crowds)
{
	on_all_counts(meet_in_crowd(workers, IVL_ADAPTIVE, TEST_SLOW ? 100 : 0,
				    TEST_SLOW ? 900 : 9000, ivl_run));
	on_all_counts(meet_5_of_4(workers));
}

TEST(large_crowd)
{
	if (TEST_SANITIZED)
		test_leave_out("there is less room for stacks under the sanitizers");
	on_all_counts(meet_in_crowd(workers, IVL_ADAPTIVE, 0, 34000, ivl_run));
}

/*
 * A recursion down to the last KiB of its stack. Near its end a sync leaves a child to a stack of
 * its own; without memory for one it takes the child back and calls it.
 */
#define SMALL_STACK ((size_t)(TEST_SLOW ? 512 : 64) << 10)
#define LEFT_AT_LEAST ((size_t)(TEST_SLOW ? 64 : 4) << 10)

struct descent {
	char *top;
	size_t deepest;
	size_t most;
};

static void descend(void *arg)
{
	struct descent *descent = arg;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;
	const size_t used = (size_t)(descent->top - (char *)__builtin_frame_address(0));

	/* A thief runs it on another stack. */
	if (used > SMALL_STACK)
		return;
	descent->deepest = used > descent->deepest ? used : descent->deepest;
	if (used > descent->most)
		return;
	if (ivl_spawn(&scope, &task, descend, descent))
		descend(descent);
	ivl_sync(&scope);
}

OK_BODY(descend_without_memory, struct descent *descent)
{
	descent->top = __builtin_frame_address(0);
	test_allocations_left = 0;
	descend(descent);
	test_allocations_left = -1;
}

static int descend_to(unsigned int workers, size_t most)
{
	struct descent descent = { .most = most };
	struct ivl_config config = test_config(workers);

	config.policy = IVL_HELP_FIRST;
	config.stack_bytes = SMALL_STACK;
	config.fibers_per_worker = 1;
	test_run_on(&config, descend_without_memory, &descent);
	/* A thief may have taken a child before. */
	return workers == 1 && descent.deepest <= most;
}

TEST(refused_children)
{
	on_all_counts(descend_to(workers, SMALL_STACK - LEFT_AT_LEAST));
}

/* With one worker no other stack exists: it overflows as a plain recursion does. */
TEST(descent_too_deep)
{
	if (TEST_SANITIZED)
		test_leave_out("the sanitizers say it themselves");
	assert_killed(SIGSEGV, descend_to(1, SMALL_STACK));
}

/*
 * A recursion under the work-first policy whose levels need more stacks than the kernel's mappings
 * or the address space allow. It must still end.
 */
#define LEVELS 100000
#define SPACE ((size_t)512 << 20)

static _Atomic int levels;

static void recurse(void *arg)
{
	int left = *(int *)arg - 1;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	atomic_fetch_add(&levels, 1);
	if (!left)
		return;
	if (ivl_spawn(&scope, &task, recurse, &left))
		_exit(EXIT_FAILURE);
	ivl_sync(&scope);
}

CALL_BODY(recurse_body, recurse)

static int recurse_work_first(unsigned int workers, bool little_space)
{
	ivl_runtime *runtime;
	int all = LEVELS, error;

	if (little_space) {
		/* Each thread's arena reserves 64 MiB of the space that the stacks need. */
		mallopt(M_ARENA_MAX, 1);
		limit_memory(SPACE);
	}
	runtime = start(workers, IVL_WORK_FIRST, 0);
	error = ivl_run(runtime, recurse_body, &all);
	ivl_stop(runtime);
	return error || atomic_load(&levels) != LEVELS;
}

TEST(work_first)
{
	if (TEST_SANITIZED)
		test_leave_out("the sanitizers' own memory is beyond any limit");
	on_all_counts(recurse_work_first(workers, false));
	on_all_counts(recurse_work_first(workers, true));
}

/*
 * A chain of tasks, each of which joins its predecessor. They begin in another order, some before
 * and some after their joiners.
 */
#define JOINERS 200
#define JUMP 77				/* has no factor in common with it */

struct joiner {
	ivl_interval *before;
	_Atomic unsigned int *ran;
};

BODY(join_before, struct joiner *joiner)
{
	int error = joiner->before ? ivl_join(ivl_end_point(joiner->before)) : 0;

	if (!error)
		atomic_fetch_add(joiner->ran, 1);
	return error;
}

static int join_all(ivl_interval *self, void *arg)
{
	static struct joiner joiners[JOINERS];
	ivl_interval *made[JOINERS];
	int error = 0, one;

	for (int i = 0; i < JOINERS; i++) {
		made[i] = ivl_create(self, NULL, join_before, &joiners[i], NULL);
		assert_non_null(made[i]);
	}
	for (int i = 0; i < JOINERS; i++) {
		struct joiner *joiner = &joiners[i * JUMP % JOINERS];

		*joiner = (struct joiner){ i ? made[(i - 1) * JUMP % JOINERS] : NULL, arg };
	}
	ivl_schedule();
	for (int i = 0; i < JOINERS; i++) {
		one = ivl_join(ivl_end_point(made[i]));
		error = error ? error : one;
	}
	for (int i = 0; i < JOINERS; i++)
		ivl_release(made[i]);
	return error;
}

static int join_with_one_fiber(unsigned int workers)
{
	_Atomic unsigned int ran = 0;
	ivl_runtime *runtime = start(workers, IVL_ADAPTIVE, 1);
	int error = ivl_run(runtime, join_all, (void *)&ran);

	ivl_stop(runtime);
	return error || atomic_load(&ran) != JOINERS;
}

TEST(joins)
{
	on_all_counts(join_with_one_fiber(workers));
}

TEST_MAIN(NULL, NULL)
