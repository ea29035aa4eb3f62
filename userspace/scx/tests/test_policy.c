// SPDX-License-Identifier: GPL-2.0
/* The policy that kernel and BPF share. */
#include <stdbool.h>
#include <string.h>

#include "unit.h"

typedef uint32_t u32;
typedef uint64_t u64;

#include "fast_policy.h"

#define MS 1000000ULL

static struct fast_group groups[FAST_GROUPS];

SET_UP
{
	memset(groups, 0, sizeof(groups));
	return 0;
}

TEST(counts_who_is_woken)
{
	struct fast_thread t = { 0 };

	assert_true(fast_hands_over(&t, 1, 1 * MS));
	t.woke = 1 * MS;
	assert_false(fast_hands_over(&t, 2, 2 * MS));
	assert_false(fast_hands_over(&t, 0, 2 * MS));
	assert_true(fast_hands_over(&t, 1, 2 * MS));
}

TEST(a_long_row_is_no_lock)
{
	struct fast_thread t = { .woke = 1 * MS };

	for (u32 i = 0; i < FAST_ROW; i++)
		assert_true(fast_hands_over(&t, 1, 1 * MS + FAST_ROW_NS));
	assert_false(fast_hands_over(&t, 1, 1 * MS + FAST_ROW_NS));
	/* From the first one on, though the next ones be cut in pieces, */
	for (u32 i = 0; i < 4 * (FAST_ROW + 1); i++) {
		assert_false(fast_hands_over(&t, 1, t.woke + FAST_ROW_NS + 1));
		t.woke += FAST_ROW_NS + 1;
	}
	/* until four times as many were short as it woke in that row. */
	t.woke += FAST_ROW_NS;
	assert_true(fast_hands_over(&t, 1, t.woke + FAST_ROW_NS + 1));
}

/* A lock whose waiters spin: its owner wakes another one each time, and does not sleep. */
TEST(what_is_between_ends_a_row)
{
	struct fast_thread t = { .woke = 1 * MS };

	for (u32 i = 0; i < 2 * FAST_ROW; i++) {
		assert_true(fast_hands_over(&t, 1, t.woke + FAST_ROW_NS + 1));
		t.woke += FAST_ROW_NS + 1;
	}
}

/* Parking lots: each waiter has a word of its own, and there is no word here. */
SET_UP_TEST(a_group_is_threads_that_hand_over)
{
	struct fast_thread t[4] = { 0 }, other[2] = { 0 };
	struct fast_group *g = fast_join(groups, &t[0], &t[1]);

	assert_ptr_equal(fast_join(groups, &t[1], &t[2]), g);
	assert_ptr_equal(fast_join(groups, &t[3], &t[0]), g);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(t[i].group, g->id);
	g->last = 1;
	assert_ptr_not_equal(fast_join(groups, &other[0], &other[1]), g);
	assert_int_not_equal(other[0].group, g->id);
}

SET_UP_TEST(two_groups_become_one)
{
	struct fast_thread t[4] = { 0 };
	struct fast_group *a = fast_join(groups, &t[0], &t[1]), *b;

	fast_handoff(a, &t[1], true, 1 * MS);
	b = fast_join(groups, &t[2], &t[3]);
	fast_handoff(b, &t[3], true, 1 * MS);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(fast_join(groups, &t[2], &t[1]), a->id < b->id ? a : b);
	/* What was measured so far was measured of one of them. */
	assert_int_equal((a->id < b->id ? a : b)->trial.handoffs, 0);
	/* The fourth follows by its own hand-off. */
	assert_ptr_equal(fast_join(groups, &t[2], &t[3]), a->id < b->id ? a : b);
	assert_int_equal(t[3].group, t[0].group);
}

SET_UP_TEST(the_most_silent_group_gives_way)
{
	struct fast_thread t[2 * (FAST_GROUPS + 1)] = { 0 };

	for (u32 i = 0; i < FAST_GROUPS; i++)
		fast_join(groups, &t[2 * i], &t[2 * i + 1])->last = i == 5 ? 1 : 10 + i;
	fast_join(groups, &t[2 * FAST_GROUPS], &t[2 * FAST_GROUPS + 1]);
	/* Its threads are of no group now, and find one. */
	assert_int_equal(t[2 * FAST_GROUPS].group % FAST_GROUPS, t[10].group % FAST_GROUPS);
	assert_int_not_equal(t[2 * FAST_GROUPS].group, t[10].group);
}

/* A trial of as many hand-offs as it takes, each as long after another as `step`. */
static bool trial(struct fast_group *g, u64 *now, u64 step, u64 user, u64 kernel, u64 called)
{
	struct fast_thread t = { 0 };
	bool gather = false;

	for (u32 i = 0; i < FAST_TRIAL; i++) {
		gather = fast_handoff(g, &t, true, *now += step);
		g->trial.times.user += user;
		g->trial.times.kernel += kernel;
		g->trial.times.called += called;
	}
	return gather;
}

SET_UP_TEST(gathers_what_takes_half_at_once)
{
	struct fast_group g = { .id = 1 };
	u64 now = 1;

	assert_true(trial(&g, &now, 1000, 300, 1000, 0));
}

SET_UP_TEST(gathers_what_is_sure)
{
	struct fast_group g = { .id = 1 };
	u64 now = 1;

	/* 0.6 + 0.1 of the time it took. */
	assert_false(trial(&g, &now, 1000, 600, 800, 0));
	assert_true(trial(&g, &now, 1000, 600, 800, 0));
	/* Once does not count if the next one says something else. */
	g = (struct fast_group){ .id = 1 };
	assert_false(trial(&g, &now, 1000, 600, 800, 0));
	assert_false(trial(&g, &now, 1000, 4000, 800, 0));
	now = g.until;
	assert_false(trial(&g, &now, 1000, 600, 800, 0));
}

/* Four CPUs that compute all the time are worth more than locality. */
SET_UP_TEST(leaves_alone_what_is_parallel)
{
	struct fast_group g = { .id = 1 };
	u64 now = 1;

	assert_false(trial(&g, &now, 1000, 4000, 100, 0));
	assert_false(trial(&g, &now, 1000, 4000, 100, 0));
	assert_int_equal(g.sure, 0);
}

/* Of a barrier's time in the kernel a half is spent on one CPU, too, of a lock's hardly any. */
SET_UP_TEST(a_barrier_takes_half_as_long)
{
	struct fast_group g = { .id = 1 };
	struct fast_thread t = { .group = 1, .mark = 1 };
	u64 now = 1;

	assert_true(trial(&g, &now, 1000, 300, 1500, 0));
	g = (struct fast_group){ .id = 1 };
	assert_false(trial(&g, &now, 1000, 300, 0, 1500));

	t.by_many = true;
	fast_leave(&t, 101, false);
	assert_int_equal(t.times.called, 100);
	assert_int_equal(t.times.kernel, 0);
	fast_leave(&t, 201, false);
	assert_int_equal(t.times.kernel, 100);
	fast_leave(&t, 301, true);
	assert_int_equal(t.times.called, 200);
}

TEST(what_is_fetched_is_saved)
{
	struct fast_trial g = {
		.times.user = 1000, .handoffs = 10, .colds = 2, .cold = 40,
	};

	/* Each section takes 20, and fetches as much as FAST_WARM says. */
	assert_int_equal(fast_alone(&g), 1000 - FAST_WARM * 20 * 10);
	g.cold = 4000;
	assert_int_equal(fast_alone(&g), 1000 / FAST_WARM);
	g.times.kernel = 800;
	g.times.called = 70;
	assert_int_equal(fast_alone(&g), 1000 / FAST_WARM + 800 / FAST_KERNEL + 70 / FAST_CALLED);
}

/* Waiting for a CPU is not the lock's doing, but behind threads of the same group. */
TEST(what_others_took_does_not_count)
{
	struct fast_trial g = { .begun = 1000, .threads = 4, .delay = 400 };

	assert_int_equal(fast_took(&g, 2000), 900);
	g.times = (struct fast_times){ .user = 50, .kernel = 30, .called = 20 };
	assert_int_equal(fast_took(&g, 2000), 975);
	g.delay = 200;
	assert_int_equal(fast_took(&g, 2000), 1000);
	g.delay = 8000;
	assert_int_equal(fast_took(&g, 2000), 0);
}

/* A queue that formed elsewhere ends at home; what forms there is the lock's. */
SET_UP_TEST(the_first_at_home_preempt)
{
	struct fast_group g = { .id = 1 };
	struct fast_thread t = { 0 };

	fast_go_home(&g, 3, 1);
	for (u32 i = 0; i < 2 * FAST_TRIAL; i++) {
		assert_false(fast_handoff(&g, &t, true, 2));
		assert_int_equal(t.preempts, i < FAST_TRIAL);
	}
}

SET_UP_TEST(hand_offs_on_one_cpu_are_no_trial)
{
	struct fast_group g = { .id = 1 };
	struct fast_thread t = { 0 };
	u64 now = 1;
	bool gather = false;

	for (u32 i = 0; i < FAST_TRIAL; i++)
		gather |= fast_handoff(&g, &t, i % (2 * FAST_REMOTE) == 0, now += 1000);
	assert_false(gather);
}

SET_UP_TEST(backs_off_longer_and_longer)
{
	struct fast_group g = { .id = 1 };
	struct fast_thread t = { 0 };
	u64 now = 1, rest = 0, before;

	for (u32 i = 0; i < FAST_BACKOFF + 3; i++) {
		before = rest;
		trial(&g, &now, 1000, 4000, 100, 0);
		rest = g.until - now;
		if (i && i <= FAST_BACKOFF)
			assert_int_equal(rest, 2 * before);
		else if (i)
			assert_int_equal(rest, before);
		/* Nothing is counted meanwhile. */
		assert_false(fast_handoff(&g, &t, true, now + 1));
		assert_int_equal(g.trial.handoffs, 0);
		now = g.until;
	}
}

SET_UP_TEST(stays_at_home_for_a_time)
{
	struct fast_thread a = { 0 }, b = { 0 };
	struct fast_group *g = fast_join(groups, &a, &b);
	u64 now = 5 * MS;
	u32 id = g->id;

	fast_go_home(g, 3, now);
	assert_int_equal(g->home, 4);
	g->last = now;
	assert_false(fast_lapses(g, now + FAST_LAPSE_NS));
	assert_true(fast_lapses(g, now + FAST_LAPSE_NS + 1));
	g->last = now + FAST_HOME_NS;
	assert_false(fast_lapses(g, now + FAST_HOME_NS));
	assert_true(fast_lapses(g, now + FAST_HOME_NS + 1));

	fast_leave_home(g);
	assert_int_equal(g->home, 0);
	assert_false(fast_lapses(g, now + FAST_HOME_NS + 1));
	assert_int_not_equal(g->id, id);
	assert_int_equal(g->id % FAST_GROUPS, id % FAST_GROUPS);
}

SET_UP_TEST(a_thread_tells_what_is_of_the_trial)
{
	struct fast_thread t = { .mark = 10, .times.user = 5000, .delay = 100 };
	struct fast_group g = { .id = 1 };

	/* None is open. */
	fast_tell(&t, &g, 1000, 100);
	assert_int_equal(g.trial.times.user, 0);
	fast_handoff(&g, &t, true, 1000);
	fast_tell(&t, &g, 1300, 150);
	assert_int_equal(g.trial.times.user, 300);
	assert_int_equal(g.trial.delay, 0);
	assert_int_equal(g.trial.threads, 1);
	fast_enter(&t, &g, 60, true);
	fast_tell(&t, &g, 1400, 190);
	assert_int_equal(g.trial.times.user, 350);
	assert_int_equal(g.trial.delay, 40);
	assert_int_equal(g.trial.threads, 1);
}

/* The section that follows a hand-off between CPUs: from then on to the next wake-up. */
TEST(a_cold_section_is_timed)
{
	struct fast_group g = { .id = 1, .trial.handoffs = 1 };
	struct fast_thread t = { .group = 1, .mark = 100, .cold = true };

	fast_enter(&t, &g, 150, true);
	assert_int_equal(g.trial.cold, 50);
	assert_int_equal(g.trial.colds, 1);
	fast_enter(&t, &g, 250, true);
	assert_int_equal(g.trial.colds, 1);
	t.cold = true;
	/* It waits again: it has not released anything. */
	fast_enter(&t, &g, 350, false);
	assert_int_equal(g.trial.colds, 1);
}

/* A barrier's first wake-ups are hand-offs: its threads are of a group, and not for long. */
TEST(a_thread_strays)
{
	struct fast_group g = { .id = 1, .last = 5 };
	struct fast_thread t = { .group = 1 };

	assert_false(fast_strays(&t, &g, 5 + FAST_LAPSE_NS));
	assert_true(fast_strays(&t, &g, 6 + FAST_LAPSE_NS));
	t.caller = true;
	assert_true(fast_strays(&t, &g, 6));
	g.home = 1;
	assert_false(fast_strays(&t, &g, 6));
}

TEST(the_home_is_chosen)
{
	assert_true(fast_cpu_before(0, 9, 1, 0));
	assert_true(fast_cpu_before(0, 1, 0, 2));
	assert_false(fast_cpu_before(0, 2, 0, 2));
	assert_false(fast_cpu_before(1, 0, 0, 2));
}

RUN_TESTS(NULL, NULL)
