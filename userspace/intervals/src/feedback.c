// SPDX-License-Identifier: LGPL-2.1-or-later
#include "feedback.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "find.h"

/* A worker's times at the end of the last quantum. */
struct account {
	bool has_clock;
	clockid_t clock;
	_Atomic(int) thread;		/* kernel thread id; 0: it has not begun */
	int64_t worked;
	uint64_t ran;
};

struct ivl_feedback {
	_Atomic(unsigned int) desire;
	_Atomic(uint64_t) ends;		/* end of the quantum, ns of CLOCK_MONOTONIC */
	_Atomic(uint64_t) quanta;	/* quanta that are over */
	_Atomic(bool) ending;		/* a worker is ending the quantum, and owns the rest */
	uint64_t began;
	struct account accounts[];	/* by worker number */
};

/* A-STEAL's delta. */
static bool is_little(uint64_t part, uint64_t whole)
{
	return part < whole * IVL_UTILIZATION / 100;
}

unsigned int ivl_next_desire(const struct ivl_quantum *quantum)
{
	const unsigned int desire = quantum->desire;
	unsigned int next = desire;

	if (is_little(quantum->worked, quantum->length * desire))
		next = desire / 2;
	else if (!is_little(quantum->ran, quantum->worked))
		next = desire * 2;
	return next < 1 ? 1 : next > quantum->workers ? quantum->workers : next;
}

int ivl_feedback_create(ivl_runtime *runtime)
{
	const unsigned int workers = runtime->topology->workers;
	struct ivl_feedback *feedback;

	feedback = calloc(1, sizeof(*feedback) + workers * sizeof(*feedback->accounts));
	if (!feedback)
		return ENOMEM;
	feedback->began = ivl_clock_ns(CLOCK_MONOTONIC);
	atomic_init(&feedback->ends, feedback->began + IVL_QUANTUM_NS);
	atomic_init(&feedback->desire, 1);
	runtime->feedback = feedback;
	for (unsigned int i = 0; i < workers; i++)
		runtime->workers[i].feedback = feedback;
	return 0;
}

void ivl_feedback_destroy(struct ivl_feedback *feedback)
{
	free(feedback);
}

void ivl_feedback_add(struct ivl_worker *worker)
{
	struct account *account = &worker->feedback->accounts[worker->number];

	account->has_clock = !pthread_getcpuclockid(worker->thread, &account->clock);
}

void ivl_feedback_enter(struct ivl_worker *worker)
{
	atomic_store_explicit(&worker->feedback->accounts[worker->number].thread,
			      (int)syscall(SYS_gettid), memory_order_relaxed);
	ivl_feedback_resume(worker);
}

static unsigned int desire_now(struct ivl_feedback *feedback)
{
	return atomic_load_explicit(&feedback->desire, memory_order_relaxed);
}

/* Lower than before if the worker has become busy since `now`. */
static int64_t worked_ns(const struct ivl_worker *worker, uint64_t now)
{
	const uint64_t word = atomic_load_explicit(&worker->worked, memory_order_relaxed);

	return (int64_t)(word & IVL_AT_WORK ? word - IVL_AT_WORK + 2 * now : word) / 2;
}

void ivl_feedback_resume(struct ivl_worker *worker)
{
	const uint64_t word = atomic_load_explicit(&worker->worked, memory_order_relaxed);

	atomic_store_explicit(&worker->worked,
			      word - 2 * ivl_clock_ns(CLOCK_MONOTONIC) + IVL_AT_WORK,
			      memory_order_relaxed);
}

/* CPU time of the worker; false: unknown. */
static bool ran_ns(const struct account *account, uint64_t *ns)
{
	struct timespec ran;

	if (!account->has_clock || clock_gettime(account->clock, &ran))
		return false;
	*ns = ivl_ns(ran);
	return true;
}

/* Does the kernel say that the thread waits for something other than a CPU? */
static bool thread_waits(int thread)
{
	char name[64], status[256];
	const char *state;
	ssize_t bytes;
	int file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", thread);
	file = open(name, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	bytes = read(file, status, sizeof(status) - 1);
	close(file);
	if (bytes < 0)
		return false;
	status[bytes] = '\0';
	/* After the program's name, which may contain anything. */
	state = strrchr(status, ')');
	return state && (!strncmp(state, ") S", 3) || !strncmp(state, ") D", 3));
}

/*
 * For a busy worker that got no CPU time: a blocked task is no sign that CPUs are scarce, nor is
 * the worker that runs this.
 */
static bool is_blocked(const struct ivl_worker *worker, const struct account *account)
{
	const int thread = atomic_load_explicit(&account->thread, memory_order_relaxed);

	return atomic_load_explicit(&worker->worked, memory_order_relaxed) & IVL_AT_WORK &&
	       (thread == (int)syscall(SYS_gettid) || thread_waits(thread));
}

/* The first worker that comes by after its end ends a quantum. */

static void add_worker(struct ivl_quantum *quantum, const struct ivl_worker *worker, uint64_t now)
{
	struct account *account = &worker->feedback->accounts[worker->number];
	const int64_t in_all = worked_ns(worker, now);
	const uint64_t ran_before = account->ran;
	uint64_t worked = 0, ran;

	if (in_all > account->worked) {
		worked = (uint64_t)(in_all - account->worked);
		account->worked = in_all;
	}
	/* With unknown CPU time, assume that the worker got all it wanted. */
	ran = ran_ns(account, &account->ran) ? account->ran - ran_before : worked;
	if (ran > worked || (is_little(ran, worked) && is_blocked(worker, account)))
		ran = worked;
	quantum->worked += worked;
	quantum->ran += ran;
}

static void end_quantum(const ivl_runtime *runtime, uint64_t now)
{
	struct ivl_feedback *feedback = runtime->feedback;
	struct ivl_quantum quantum = { .desire = desire_now(feedback),
				       .workers = runtime->topology->workers,
				       .length = now - feedback->began };

	feedback->began = now;
	for (unsigned int i = 0; i < quantum.workers; i++)
		add_worker(&quantum, &runtime->workers[i], now);
	atomic_store_explicit(&feedback->desire, ivl_next_desire(&quantum), memory_order_relaxed);
	atomic_fetch_add_explicit(&feedback->quanta, 1, memory_order_relaxed);
}

static uint64_t quantum_ends(struct ivl_feedback *feedback)
{
	return atomic_load_explicit(&feedback->ends, memory_order_relaxed);
}

static void come_by(const ivl_runtime *runtime, uint64_t now)
{
	struct ivl_feedback *feedback = runtime->feedback;

	if (now < quantum_ends(feedback) ||
	    atomic_exchange_explicit(&feedback->ending, true, memory_order_acquire))
		return;
	/* First, so that a timed sleeper does not see the same quantum end again. */
	if (now >= quantum_ends(feedback)) {
		atomic_store_explicit(&feedback->ends, now + IVL_QUANTUM_NS, memory_order_relaxed);
		end_quantum(runtime, now);
	}
	atomic_store_explicit(&feedback->ending, false, memory_order_release);
}

void ivl_feedback_rest(struct ivl_worker *worker)
{
	const uint64_t now = ivl_clock_ns(CLOCK_MONOTONIC);
	const uint64_t word = atomic_load_explicit(&worker->worked, memory_order_relaxed);

	atomic_store_explicit(&worker->worked, word - IVL_AT_WORK + 2 * now, memory_order_relaxed);
	come_by(worker->runtime, now);
}

void ivl_feedback_ask(const ivl_runtime *runtime, struct ivl_statistics *statistics)
{
	/* All awake workers may be busy, so that none comes by. */
	come_by(runtime, ivl_clock_ns(CLOCK_MONOTONIC));
	statistics->desire = desire_now(runtime->feedback);
	statistics->quanta = atomic_load_explicit(&runtime->feedback->quanta, memory_order_relaxed);
}

void ivl_feedback_forget(struct ivl_feedback *feedback)
{
	atomic_store_explicit(&feedback->quanta, 0, memory_order_relaxed);
}

/* Relaxed: a hint; a worker in a timed sleep has passed a fence. */
static int awake_at(const ivl_runtime *runtime, unsigned int leaf)
{
	const struct ivl_place_state *state = &runtime->place_states[leaf];
	const unsigned int asleep = atomic_load_explicit(&state->sleepers.asleep,
							 memory_order_relaxed);

	return (int)(runtime->topology->leaves[leaf].worker_count - asleep) -
	       ivl_timed_sleep_active(&state->timed_sleep);
}

/*
 * Are more workers awake than desired, among them another one of this leaf? `timed_sleep`: the
 * caller is in a timed sleep.
 */
static bool is_too_many(const struct ivl_worker *worker, bool timed_sleep)
{
	const ivl_runtime *runtime = worker->runtime;
	int awake = timed_sleep;

	if (awake_at(runtime, worker->place->index) + timed_sleep < 2)
		return false;
	for (unsigned int i = 0; i < runtime->topology->leaf_count; i++)
		awake += awake_at(runtime, i);
	return awake > (int)desire_now(worker->feedback);
}

/* True: throttled to the end, because there is no work. */
static bool sleep_for_quantum(struct ivl_worker *worker, struct ivl_place_state *state)
{
	unsigned int patience = IVL_THROTTLED_QUANTA;
	bool nothing = false;

	/* Producers rely on this worker as on a searcher (W4 of the protocol). */
	atomic_fetch_add_explicit(&state->searching, 1, memory_order_seq_cst);
	while (patience-- && !ivl_over(worker) && is_too_many(worker, true)) {
		nothing = !ivl_anything(worker);
		if (nothing)
			break;
		ivl_count(worker, naps);
		if (!ivl_timed_sleep_until(&state->timed_sleep, quantum_ends(worker->feedback)))
			break;
		come_by(worker->runtime, ivl_clock_ns(CLOCK_MONOTONIC));
	}
	ivl_timed_sleep_end(&state->timed_sleep);
	atomic_fetch_sub_explicit(&state->searching, 1, memory_order_seq_cst);
	return nothing;
}

bool ivl_feedback_is_too_many(const struct ivl_worker *worker)
{
	return is_too_many(worker, false);
}

bool ivl_feedback_throttles(struct ivl_worker *worker, struct ivl_place_state *state)
{
	if (!is_too_many(worker, false))
		return false;
	return !ivl_timed_sleep_begin(&state->timed_sleep) ||
	       sleep_for_quantum(worker, state);
}

void ivl_feedback_leave(struct ivl_worker *worker, struct ivl_place_state *state)
{
	if (awake_at(worker->runtime, worker->place->index) < 1)
		ivl_timed_sleep_wake(&state->timed_sleep);
}
