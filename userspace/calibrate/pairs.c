// SPDX-License-Identifier: GPL-2.0
/* Measurements of two threads, on two CPUs or on one. */
#include <errno.h>
#include <error.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calibrate.h"

#define BATCH_TURNS 4000
#define HOPS 400
/* Hand-offs to a waiter that rests before are fewer: all take 0.1 s together. */
#define LONG_REST_NS 500000
#define LONG_REST_HOPS 80
/* Limit for all interrupts, which take a few ms on an idle machine. */
#define INTERRUPTS_NS 100000000
/* At least this part of the tries must succeed. */
#define LEAST_PART 8
/* Two prefetched lines. */
#define APART 128
#define RELOADED 64	/* lines, which any L1 holds */
#define RELOADS 200

void pin(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);

	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set))
		error(1, errno, "cannot run on CPU %d", cpu);
	CPU_FREE(set);
}

/* One of two threads, which take turns: turn N belongs to thread N % 2. */
struct side {
	struct pair *pair;
	int cpu;
	unsigned int parity;
};

struct pair {
	_Alignas(APART) _Atomic uint32_t turn;
	_Alignas(APART) _Atomic uint32_t ran;
	_Alignas(APART) struct side sides[2];
	void *(*play)(void *side);
	struct chase lines;	/* that are written and loaded */
	uint64_t rest_ns;
	unsigned int hops;
	uint64_t begun[HOPS];	/* the begin of a batch or a system call */
	uint64_t ended[HOPS];	/* the return of the other thread */
	bool counts[HOPS];	/* the other thread slept, or ran, as it should */
};

/* Run both threads to their ends. */
static void play(struct pair *pair, int one, int other)
{
	pthread_t thread;
	int error_number;

	for (unsigned int i = 0; i < 2; i++)
		pair->sides[i] = (struct side){ pair, i ? other : one, i };
	error_number = pthread_create(&thread, NULL, pair->play, &pair->sides[1]);
	if (error_number)
		error(1, error_number, "cannot start a thread");
	pair->play(&pair->sides[0]);
	pthread_join(thread, NULL);
}

static void *bounce(void *argument)
{
	struct side *side = argument;
	_Atomic uint32_t *turn = &side->pair->turn;

	pin(side->cpu);
	for (uint32_t i = side->parity; i <= BATCHES * BATCH_TURNS; i += 2) {
		while (atomic_load_explicit(turn, memory_order_acquire) != i)
			;
		if (i % BATCH_TURNS == 0)
			side->pair->begun[i / BATCH_TURNS] = now_ns();
		atomic_store_explicit(turn, i + 1, memory_order_release);
	}
	return NULL;
}

double measure_transfer(int one, int other)
{
	struct pair pair = { .play = bounce };
	double ns[BATCHES];

	play(&pair, one, other);
	for (unsigned int i = 0; i < BATCHES; i++)
		ns[i] = (double)(pair.begun[i + 1] - pair.begun[i]) / BATCH_TURNS;
	return least(ns);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The kernel's time varies: returns the median of the tries that count; 0: too few do. */
static double median_of(const struct pair *pair, unsigned int n)
{
	double taken[HOPS];
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++)
		if (pair->counts[i])
			taken[count++] = (double)(pair->ended[i] - pair->begun[i]);
	if (count < n / LEAST_PART)
		return 0;
	qsort(taken, count, sizeof(*taken), compare);
	return taken[count / 2];
}

/*
 * A barrier between the process's threads: the kernel interrupts every other CPU that runs one,
 * and returns when all have answered. The other thread's counter shows whether it ran meanwhile;
 * if not, the try is repeated.
 */
static void *interrupt(void *argument)
{
	struct side *side = argument;
	struct pair *pair = side->pair;
	uint64_t until;

	pin(side->cpu);
	if (side->parity) {
		atomic_store(&pair->turn, 1);
		while (atomic_load_explicit(&pair->turn, memory_order_relaxed) == 1)
			atomic_fetch_add_explicit(&pair->ran, 1, memory_order_relaxed);
		return NULL;
	}
	while (atomic_load(&pair->turn) != 1)
		;
	until = now_ns() + INTERRUPTS_NS;
	for (unsigned int i = 0; i < HOPS && now_ns() < until; i += pair->counts[i]) {
		uint32_t ran = atomic_load(&pair->ran);

		pair->begun[i] = now_ns();
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		pair->ended[i] = now_ns();
		pair->counts[i] = atomic_load(&pair->ran) != ran;
	}
	atomic_store(&pair->turn, 2);
	return NULL;
}

static void load_all(const struct chase *lines)
{
	void *volatile *at = (void *volatile *)lines->base;

	for (size_t i = 0; i < lines->lines; i++)
		at = (void *volatile *)*at;
	/* The last one, too, before what follows. */
	atomic_thread_fence(memory_order_seq_cst);
}

static void write_all(const struct chase *lines)
{
	for (size_t i = 0; i < lines->lines; i++)
		((volatile uint64_t *)(lines->base + i * lines->line))[1] = i;
}

/* In turn: the first thread writes the lines, the other loads them, the first loads them again. */
static void *reload(void *argument)
{
	struct side *side = argument;
	struct pair *pair = side->pair;

	pin(side->cpu);
	for (uint32_t i = side->parity; i < 4 * RELOADS; i += 2) {
		while (atomic_load_explicit(&pair->turn, memory_order_acquire) != i)
			;
		if (i % 4 == 0) {
			write_all(&pair->lines);
		} else if (i % 4 == 1) {
			load_all(&pair->lines);
		} else if (i % 4 == 2) {
			pair->begun[i / 4] = now_ns();
			load_all(&pair->lines);
			pair->ended[i / 4] = now_ns();
			pair->counts[i / 4] = true;
		}
		atomic_store_explicit(&pair->turn, i + 1, memory_order_release);
	}
	return NULL;
}

double measure_reload(int one, int other)
{
	struct pair pair = { .play = reload };
	double ns;

	chase_open(&pair.lines, RELOADED * APART, APART);
	play(&pair, one, other);
	ns = median_of(&pair, RELOADS) / RELOADED;
	chase_close(&pair.lines);
	return ns;
}

/* Each thread adds to the lines in its turns. */
static void *exchange(void *argument)
{
	struct side *side = argument;
	struct pair *pair = side->pair;

	pin(side->cpu);
	for (uint32_t i = side->parity; i < HOPS; i += 2) {
		while (atomic_load_explicit(&pair->turn, memory_order_acquire) != i)
			;
		pair->begun[i] = now_ns();
		for (size_t line = 0; line < pair->lines.lines; line++)
			++*(volatile uint64_t *)(pair->lines.base + line * pair->lines.line);
		/* All lines have come. */
		atomic_thread_fence(memory_order_seq_cst);
		pair->ended[i] = now_ns();
		pair->counts[i] = true;
		atomic_store_explicit(&pair->turn, i + 1, memory_order_release);
	}
	return NULL;
}

double measure_transfers(int one, int other, unsigned int lines)
{
	struct pair pair = { .play = exchange };
	double ns;

	chase_open(&pair.lines, (size_t)lines * APART, APART);
	play(&pair, one, other);
	ns = median_of(&pair, HOPS);
	chase_close(&pair.lines);
	return ns;
}

double measure_interrupt(int one, int other)
{
	struct pair pair = { .play = interrupt };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
		return 0;
	play(&pair, one, other);
	return median_of(&pair, HOPS);
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void rest(uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	while (ns && now_ns() < until)
		;
}

/*
 * Turn i ends with hop i, a wake-up of the other thread. FUTEX_WAKE says whether that slept: it
 * did not if the thread that it had woken preempted it before it could sleep.
 */
static void *hop(void *argument)
{
	struct side *side = argument;
	struct pair *pair = side->pair;

	pin(side->cpu);
	for (uint32_t i = side->parity; i < pair->hops; i += 2) {
		uint32_t seen;

		while ((seen = atomic_load(&pair->turn)) != i)
			futex(&pair->turn, FUTEX_WAIT, seen);
		if (i)
			pair->ended[i - 1] = now_ns();
		rest(pair->rest_ns);
		pair->begun[i] = now_ns();
		atomic_store(&pair->turn, i + 1);
		pair->counts[i] = futex(&pair->turn, FUTEX_WAKE, 1) == 1;
	}
	return NULL;
}

double measure_handoff(int one, int other, uint64_t rest_ns)
{
	unsigned int hops = rest_ns < LONG_REST_NS ? HOPS : LONG_REST_HOPS;
	struct pair pair = { .play = hop, .rest_ns = rest_ns, .hops = hops };

	play(&pair, one, other);
	/* The last hop has no return. */
	return median_of(&pair, hops - 1);
}
