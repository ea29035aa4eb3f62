// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processes that measure at once: none begins before all are there, and what ends one ends all. */
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "../../tests/test.h"

#include "instances.h"

#define PROCESSES 3u
#define ROUNDS 5u

/* What the processes share. */
struct meeting {
	atomic_uint first;		/* to be there: takes its time */
	atomic_uint arrived[ROUNDS];
};

static struct meeting *share(void)
{
	struct meeting *meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(meeting != MAP_FAILED);
	return meeting;
}

static void wait_20_ms(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

static int meet(const void *arg)
{
	/* In shared memory; const is only the pointer's view. */
	struct meeting *meeting = *(struct meeting *const *)arg;
	const bool late = !atomic_fetch_add(&meeting->first, 1);

	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (late)
			wait_20_ms();
		atomic_fetch_add(&meeting->arrived[i], 1);
		instances_meet();
		if (atomic_load(&meeting->arrived[i]) != PROCESSES)
			return 2;
	}
	return 0;
}

TEST(nobody_begins_before_all_are_there)
{
	struct meeting *meeting = share();

	assert_int_equal(instances_run(PROCESSES, meet, &meeting), 0);
	for (unsigned int i = 0; i < ROUNDS; i++)
		assert_int_equal(atomic_load(&meeting->arrived[i]), PROCESSES);
	munmap(meeting, sizeof(*meeting));
}

/* One process fails or is killed while the rest wait for it. */
static int one_fails(const void *arg)
{
	struct meeting *meeting = *(struct meeting *const *)arg;

	if (!atomic_fetch_add(&meeting->first, 1))
		return 3;
	instances_meet();
	return 0;
}

static int one_is_killed(const void *arg)
{
	struct meeting *meeting = *(struct meeting *const *)arg;

	if (!atomic_fetch_add(&meeting->first, 1))
		kill(getpid(), SIGKILL);
	instances_meet();
	return 0;
}

TEST(what_ends_one_ends_all)
{
	struct meeting *meeting = share();

	assert_int_equal(instances_run(PROCESSES, one_fails, &meeting), 3);
	atomic_store(&meeting->first, 0);
	assert_int_equal(instances_run(PROCESSES, one_is_killed, &meeting), EXIT_FAILURE);
	munmap(meeting, sizeof(*meeting));
}

static int own_process(const void *arg)
{
	return *(const pid_t *)arg == getpid() ? 4 : 0;
}

TEST(one_is_this_process)
{
	const pid_t self = getpid();

	assert_int_equal(instances_run(1, own_process, &self), 4);
}

TEST_MAIN(NULL, NULL)
