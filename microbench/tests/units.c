// SPDX-License-Identifier: GPL-2.0
/* The harness's parts by themselves. */
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "common/gate.h"
#include "common/layout.h"
#include "common/results.h"
#include "common/sched_stat.h"
#include "common/think.h"

TEST(shares)
{
	for (unsigned int group = 1; group <= 2; group++) {
		for (unsigned int threads = group; threads <= 12; threads += group) {
			struct options opt = {
				.threads = threads, .group = group, .iterations = 1000, .warmup = 26,
			};
			uint64_t sum = 0, total = 0;

			for (unsigned int i = 0; i < threads; i++) {
				uint64_t share = thread_share(&opt, 1000, i);

				assert_true(share <= thread_share(&opt, 1000, 0));
				assert_true(share + 1 >= thread_share(&opt, 1000, 0));
				assert_true(share == thread_share(&opt, 1000, i / group * group));
				sum += share;
				total += thread_iterations(&opt, i);
			}
			assert_true(sum == 1000);
			assert_true(total == 1026);
		}
	}
}

TEST(fairness)
{
	assert_true(fabs(jain_index((double[]){ 5, 5, 5, 5 }, 4) - 1) < 1e-12);
	assert_true(fabs(jain_index((double[]){ 8, 0, 0, 0 }, 4) - 0.25) < 1e-12);
	assert_true(fabs(jain_index((double[]){ 1, 3 }, 2) - 0.8) < 1e-12);
}

TEST(padding)
{
	for (size_t line = 32; line <= 1024; line *= 2) {
		struct padded array = padded_alloc(3, line + 1, line);
		struct padded mutexes = padded_mutexes(2, line);

		assert_true((uintptr_t)array.base % line == 0);
		assert_true(array.stride == 2 * line);
		assert_true((char *)padded_at(&array, 2) == array.base + 4 * line);
		assert_true(array.base[0] == 0 && array.base[6 * line - 1] == 0);
		assert_int_equal(mutexes.stride % line, 0);
		assert_true(mutexes.stride >= sizeof(pthread_mutex_t));
		free(array.base);
		free(mutexes.base);
	}
}

TEST(counter)
{
	struct padded counter = padded_alloc(1, 4 * 64, 64);
	uint64_t *last = (uint64_t *)(counter.base + 3 * 64);

	counter_increment(counter.base, 4, 64);
	counter_increment(counter.base, 4, 64);
	assert_true(counter_mismatch(counter.base, 4, 64, 2) == 4);
	assert_true(*last == 2);
	*last = 1;
	assert_true(counter_mismatch(counter.base, 4, 64, 2) == 3);
	assert_true(counter_value(counter.base, 3, 64) == 1);
	free(counter.base);
}

/* Steps that a worker's next think() takes, found by walking the generator to its new state. */
static unsigned int steps_of_next_think(struct worker *w)
{
	uint64_t x = xorshift64(w->random);
	unsigned int steps = 0;

	think(w);
	for (; x != w->random; steps++)
		x = xorshift64(x);
	return steps;
}

TEST(thinking)
{
	const unsigned int rounds = 20000;
	struct options opt = { .think = 100 };
	struct worker w = { .opt = &opt, .random = think_seed(1, 0) };
	unsigned int least = 1000, most = 0;
	double sum = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		unsigned int steps = steps_of_next_think(&w);

		least = steps < least ? steps : least;
		most = steps > most ? steps : most;
		sum += steps;
	}
	assert_true(least == 50 && most == 150);
	/* The mean's standard error is 29 / sqrt(20000) = 0.2: five of them. */
	assert_true(fabs(sum / rounds - 100) < 1);

	opt.think = 0;
	assert_true(steps_of_next_think(&w) == 0);
}

TEST(seeds)
{
	assert_true(think_seed(1, 0) == think_seed(1, 0));
	assert_true(think_seed(1, 0) != think_seed(1, 1));
	assert_true(think_seed(1, 0) != think_seed(2, 0));
	assert_true(think_seed(0, 0) != 0);
}

#define GATE_WORKERS 8
#define GATE_TURNS 200

static struct gate gate = { .workers = GATE_WORKERS };
static unsigned int passes[GATE_WORKERS];

static void *gate_worker(void *pass)
{
	for (int turn = 0; turn < GATE_TURNS; turn++) {
		++*(unsigned int *)pass;
		gate_pass(&gate);
	}
	return NULL;
}

/* While the controller holds the gate, every worker has come exactly this far. */
TEST(gates)
{
	pthread_t threads[GATE_WORKERS];

	for (int i = 0; i < GATE_WORKERS; i++)
		pthread_create(&threads[i], NULL, gate_worker, &passes[i]);
	for (unsigned int turn = 1; turn <= GATE_TURNS; turn++) {
		gate_await(&gate);
		for (int i = 0; i < GATE_WORKERS; i++)
			assert_true(passes[i] == turn);
		gate_open(&gate);
	}
	for (int i = 0; i < GATE_WORKERS; i++)
		pthread_join(threads[i], NULL);
}

TEST(sched_stat)
{
	struct sched_stat before = { 0 }, after = { 0 };
	struct sched_stat process = sched_stat_of_process();

	assert_true(!process.has_migrations);
	if (sched_stat_add(&before, gettid())) {
		for (int i = 0; i < 5; i++)
			usleep(1000);
		assert_true(sched_stat_add(&after, gettid()));
		assert_true(after.context_switches >= before.context_switches + 5);
	}
	assert_true(sched_stat_of_process().context_switches >= process.context_switches);
	/* No such thread: nothing is added. */
	assert_true(!sched_stat_add(&before, 0));
}

TEST(verdict_keeps_the_first)
{
	struct verdict verdict = { 0 };

	verdict_fail(&verdict, "first %d", 1);
	verdict_fail(&verdict, "second");
	assert_true(verdict.failed);
	assert_true(verdict.detail[0] == 'f');
}

RUN_TESTS(NULL, NULL)
