// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Barriers of a team. The last thread waits for the team's tasks, which the other threads run
 * meanwhile, and opens the barrier. A waiting thread polls one word while there are no tasks; then
 * it waits in the runtime, which runs tasks.
 */
#include <fence.h>
#include <futex.h>

#include "gomp.h"
#include "park.h"

void gomp_barrier_init(struct barrier *barrier, unsigned int size)
{
	atomic_store_explicit(&barrier->left, size, memory_order_relaxed);
}

struct passing {
	const struct team *team;
	unsigned int phase;
	bool cancellable;
};

static bool still(const void *word, unsigned long arg)
{
	const struct passing *passing = (const struct passing *)arg;

	/* Acquire: what all threads wrote before they came. */
	return atomic_load_explicit((const atomic_uint *)word, memory_order_acquire) ==
		       passing->phase &&
	       !(passing->cancellable && atomic_load(&passing->team->cancelled));
}

static bool has_tasks(const struct team *team)
{
	return __atomic_load_n(&team->tasks.group.left, __ATOMIC_RELAXED) != 1;
}

/*
 * Sleep on the word itself, so that one call wakes all; run tasks meanwhile. False: the kernel does
 * not support that.
 */
static bool sleep_there(struct barrier *barrier, unsigned int phase)
{
	struct gomp_waits waits = gomp_waits_begin(false);
	bool waited;

	/* seq_cst, as the fence in wake(): it sees us, or we see the next phase. */
	atomic_fetch_add(&barrier->asleep, 1);
	waited = ivl_attached_wait(&barrier->phase, phase);
	atomic_fetch_sub_explicit(&barrier->asleep, 1, memory_order_relaxed);
	gomp_waits_end(waits);
	return waited;
}

static void wake(struct barrier *barrier)
{
	ivl_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&barrier->asleep, memory_order_relaxed))
		ivl_futex_wake(&barrier->phase, UINT_MAX);
	/* Waiters that can be cancelled, or all if the kernel has no futex_waitv(). */
	gomp_unpark_all(&barrier->phase);
}

/* Run tasks meanwhile; in the final barrier not those of the next region. */
static void park(struct team *team, struct barrier *barrier, const struct passing *passing)
{
	atomic_uint *waiting = NULL;

	if (barrier == &team->final) {
		waiting = &team->waiting[passing->phase & 1];
		gomp_team_wait_begin(waiting);
	}
	if (passing->cancellable || !sleep_there(barrier, passing->phase))
		while (still(&barrier->phase, (unsigned long)passing))
			gomp_park(&barrier->phase, still, (unsigned long)passing);
	if (waiting)
		gomp_team_wait_end(waiting);
}

bool gomp_barrier_wait(struct member *self, struct barrier *barrier, bool cancellable)
{
	struct team *team = self->team;
	struct passing passing = { team, 0, cancellable };

	if (!team)
		return false;
	if (cancellable && atomic_load(&team->cancelled))
		return true;
	if (!team->undeferred)
		ivl_attached_flush();
	passing.phase = atomic_load_explicit(&barrier->phase, memory_order_relaxed);
	/* Release and acquire, with all that have come. */
	if (atomic_fetch_sub_explicit(&barrier->left, 1, memory_order_acq_rel) == 1) {
		const unsigned int size = team->size;

		gomp_group_wait(&team->tasks);
		gomp_reset(&team->share_cancelled);
		atomic_store_explicit(&barrier->left, size, memory_order_relaxed);
		/* Release, to still(). */
		atomic_store_explicit(&barrier->phase, passing.phase + 1, memory_order_release);
		/* From here on thread 0 may reuse the team. */
		if (size > 1)
			wake(barrier);
	} else {
		gomp_spin_while(!has_tasks(team) &&
				still(&barrier->phase, (unsigned long)&passing));
		if (still(&barrier->phase, (unsigned long)&passing))
			park(team, barrier, &passing);
	}
	gomp_sync_children(&self->base);
	return cancellable && atomic_load(&team->cancelled);
}

GOMP_PUBLIC void GOMP_barrier(void)
{
	struct member *self = gomp_member();

	gomp_barrier_wait(self, self->team ? &self->team->barrier : NULL, false);
}

GOMP_PUBLIC bool GOMP_barrier_cancel(void)
{
	struct member *self = gomp_member();

	return gomp_barrier_wait(self, self->team ? &self->team->barrier : NULL, true);
}
