// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hints at nested places, on a synthetic machine of two packages with two caches each, the leaves.
 * Tasks that wait for each other show how many workers could take them.
 */
#include "test_runtimes.h"

#define LEAVES 4

enum means { BY_ASYNC, BY_WORK_FIRST, BY_INTERVAL, BY_HIGH_INTERVAL, BY_LAUNCH, MEANS };

struct meeting {
	ivl_runtime *runtime;
	const ivl_place *place;		/* the hint */
	enum means means;
	int tasks;
	bool slowly;
	_Atomic int came, strayed, late;
};

static struct ivl_config packages(unsigned int workers, bool cross_place)
{
	struct ivl_config config = test_config(workers);

	config.places = IVL_PLACES_LLC;
	config.cross_place = cross_place;
	config.statistics = true;
	return config;
}

static bool is_inside(const ivl_place *place, const ivl_place *outer)
{
	while (place && place != outer)
		place = ivl_place_outer(place);
	return place;
}

static void meet(struct meeting *meeting)
{
	if (!is_inside(ivl_here(), meeting->place))
		atomic_fetch_add(&meeting->strayed, 1);
	atomic_fetch_add(&meeting->came, 1);
	if (!test_comes_true(atomic_load(&meeting->came) >= meeting->tasks))
		atomic_fetch_add(&meeting->late, 1);
}

static void meet_async(void *arg)
{
	meet(*(struct meeting **)arg);
}

CALL_BODY(meet_interval, meet)

static int send_interval(ivl_interval *self, struct meeting *meeting)
{
	ivl_interval *sent = meeting->means == BY_LAUNCH ?
		ivl_launch(NULL, meet_interval, meeting, meeting->place) :
		ivl_create(self, NULL, meet_interval, meeting, meeting->place);

	if (!sent)
		return ENOMEM;
	if (meeting->means == BY_HIGH_INTERVAL)
		ivl_set_priority(sent, IVL_PRIORITY_HIGH);
	ivl_schedule();
	ivl_release(sent);
	return 0;
}

static int send_one(ivl_interval *self, struct meeting *meeting)
{
	switch (meeting->means) {
	case BY_ASYNC:
		return ivl_async(meet_async, &meeting, sizeof(meeting), meeting->place);
	case BY_WORK_FIRST:
		return ivl_async_by(IVL_WORK_FIRST, meet_async, &meeting, sizeof(meeting),
				    meeting->place);
	default:
		return send_interval(self, meeting);
	}
}

TASK(send_all, struct meeting *meeting)
{
	for (int i = 0; i < meeting->tasks; i++)
		assert_int_equal(send_one(ivl_current(), meeting), 0);
}

FINISH_BODY(send_body, send_all)

struct sender {
	struct meeting *meeting;
	ivl_body *body;
	unsigned int leaf;
};

OK_BODY(begin_at, struct sender *sender)
{
	const ivl_place *place = ivl_place_at(sender->meeting->runtime, sender->leaf);

	ivl_release(ivl_create(self, NULL, sender->body, sender->meeting, place));
}

/* Runs on a worker of that leaf or, with cross_place, on any. */
static void run_at(struct meeting *meeting, ivl_body *body, unsigned int leaf)
{
	struct sender sender = { meeting, body, leaf };

	test_run(meeting->runtime, begin_at, &sender);
}

static void assert_met(const struct meeting *meeting)
{
	assert_int_equal(atomic_load(&meeting->came), meeting->tasks);
	assert_int_equal(atomic_load(&meeting->strayed), 0);
	assert_int_equal(atomic_load(&meeting->late), 0);
}

/* Without cross_place exactly the workers of both inner leaves can take them. */
TEST(all_inside)
{
	const struct ivl_config config = packages(8, false);

	for (int means = 0; means < MEANS; means++) {
		struct meeting meeting = { .means = means, .tasks = 4 };

		meeting.runtime = test_start(&config);
		assert_int_equal(ivl_place_count(meeting.runtime), LEAVES);
		meeting.place = ivl_place_outer(ivl_place_at(meeting.runtime, 2));
		assert_string_equal(ivl_place_name(meeting.place), "package-1");
		run_at(&meeting, send_body, 0);
		assert_met(&meeting);
		ivl_stop(meeting.runtime);
	}
}

TASK(meet_those_sent, struct meeting *meeting)
{
	for (int i = 1; i < meeting->tasks; i++) {
		/* All idle workers fall asleep. */
		if (meeting->slowly)
			usleep(20000);
		assert_int_equal(send_one(ivl_current(), meeting), 0);
	}
	meet(meeting);
}

FINISH_BODY(meet_body, meet_those_sent)

/* The sender is inside itself, and never looks into its queue again. */
TEST(sender_inside)
{
	struct ivl_config config = packages(8, false);

	for (config.policy = 0; config.policy < IVL_POLICIES; config.policy++)
		for (int means = 0; means < MEANS; means++) {
			struct meeting meeting = { .means = means, .tasks = 4 };

			meeting.runtime = test_start(&config);
			meeting.place = ivl_place_outer(ivl_place_at(meeting.runtime, 3));
			run_at(&meeting, meet_body, 3);
			assert_met(&meeting);
			ivl_stop(meeting.runtime);
		}
}

/* Each task wakes a worker of another leaf, again and again. */
TEST(wakes)
{
	const struct ivl_config config = packages(LEAVES, false);
	const int rounds = TEST_SLOW ? 200 : 1000;
	struct meeting meeting = { 0 };

	meeting.runtime = test_start(&config);
	meeting.place = ivl_place_outer(ivl_place_at(meeting.runtime, 2));
	for (int i = 0; i < rounds; i++) {
		meeting.means = i % MEANS;
		meeting.tasks = 2;
		atomic_store(&meeting.came, 0);
		run_at(&meeting, send_body, i % 2);
		assert_met(&meeting);
	}
	ivl_stop(meeting.runtime);
}

/* With cross_place a task for a place around the sender goes into its own queue. */
BODY(send_around, struct meeting *meeting)
{
	const uint64_t before = test_counts(meeting->runtime).mailbox;

	meeting->place = ivl_place_outer(ivl_place_outer(ivl_here()));
	if (ivl_finish(send_all, meeting))
		return EPROTO;
	/* The worker that ends the last task may send this one home by mail. */
	return test_counts(meeting->runtime).mailbox - before <= 1 ? 0 : EPROTO;
}

TEST(own_queue)
{
	const struct ivl_config config = packages(8, true);

	for (int means = 0; means < MEANS; means++) {
		struct meeting meeting = { .means = means, .tasks = 8 };

		if (means == BY_HIGH_INTERVAL)
			continue;
		meeting.runtime = test_start(&config);
		test_run(meeting.runtime, send_around, &meeting);
		assert_met(&meeting);
		ivl_stop(meeting.runtime);
	}
}

/* With cross_place outer workers take them while all inner workers are busy. */
TEST(crosses)
{
	const struct ivl_config config = packages(8, true);
	struct meeting meeting = { .means = BY_ASYNC, .tasks = 8, .slowly = true };

	meeting.runtime = test_start(&config);
	meeting.place = ivl_place_outer(ivl_place_at(meeting.runtime, 2));
	run_at(&meeting, meet_body, 0);
	assert_int_equal(atomic_load(&meeting.came), 8);
	assert_int_equal(atomic_load(&meeting.late), 0);
	/* The other four are not inside. */
	assert_int_equal(atomic_load(&meeting.strayed), 4);
	ivl_stop(meeting.runtime);
}

/* A thread in ivl_run_here() is inside the machine, too. */
TEST(here)
{
	const struct ivl_config config = packages(LEAVES, false);
	struct meeting meeting = { .means = BY_ASYNC, .tasks = LEAVES + 1, .slowly = true };
	struct sender sender = { &meeting, meet_body, LEAVES - 1 };

	meeting.runtime = test_start(&config);
	meeting.place = ivl_place_outer(ivl_place_outer(ivl_place_at(meeting.runtime, 0)));
	/* The calling thread is at the first leaf, and sleeps. */
	assert_int_equal(ivl_run_here(meeting.runtime, begin_at, &sender), 0);
	assert_met(&meeting);
	ivl_stop(meeting.runtime);
}

/* Another runtime's place is no hint, even after that runtime has stopped. */
TEST(others_place)
{
	struct ivl_config config = packages(8, false);
	ivl_runtime *other = test_start(&config);
	const ivl_place *const places[] = {
		ivl_place_outer(ivl_place_outer(ivl_place_at(other, 3))),
		ivl_place_outer(ivl_place_at(other, 3)),
		ivl_place_at(other, 3),
	};

	config.places = IVL_PLACES_ONE;
	for (int gone = 0; gone < 2; gone++) {
		for (size_t i = 0; i < 3 * MEANS; i++) {
			struct meeting meeting = {
				.means = i / 3, .place = places[i % 3], .tasks = 1,
			};

			meeting.runtime = test_start(&config);
			run_at(&meeting, send_body, 0);
			assert_int_equal(atomic_load(&meeting.came), 1);
			ivl_stop(meeting.runtime);
		}
		if (!gone) {
			assert_int_equal(test_counts(other).mailbox, 0);
			ivl_stop(other);
		}
	}
}

int main(void)
{
	setenv("HWLOC_SYNTHETIC", "package:2 l3:2 core:2 pu:1", 1);
	return test_run_all(NULL, NULL);
}
