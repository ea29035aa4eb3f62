// SPDX-License-Identifier: GPL-2.0
/* The harness's parts by themselves. */
#include <unistd.h>

#include "unit.h"
#include "common/splash.h"

/* The shares follow each other without a gap, and none is larger by more than one. */
TEST(shares)
{
	for (uint64_t count = 0; count < 40; count++)
		for (unsigned int threads = 1; threads < 12; threads++) {
			uint64_t next = 0, begin, end;

			for (unsigned int id = 0; id < threads; id++) {
				splash_share(count, threads, id, &begin, &end);
				assert_true(begin == next);
				assert_true(end - begin == count / threads ||
				       end - begin == count / threads + 1);
				next = end;
			}
			assert_true(next == count);
		}
	/* No intermediate result overflows. */
	{
		uint64_t begin, end;

		splash_share(UINT64_MAX, 1024, 1023, &begin, &end);
		assert_true(end == UINT64_MAX);
		assert_true(end - begin == UINT64_MAX / 1024);
	}
}

TEST(random_numbers)
{
	uint64_t a = splash_random_state(1, 0), b = splash_random_state(1, 1);
	uint64_t c = splash_random_state(2, 0), again = splash_random_state(1, 0);
	double sum = 0;

	assert_true(a == again);
	assert_true(a != b && a != c && b != c);
	assert_true(splash_random_state(0, 0) != 0);
	for (int i = 0; i < 10000; i++) {
		double x = splash_random_real(&a);

		assert_true(x >= 0 && x < 1);
		sum += x;
	}
	/* The mean's standard error is 0.29 / 100: five of them. */
	assert_true(sum > 4855 && sum < 5145);
}

TEST(memory)
{
	for (size_t bytes = 0; bytes < 300; bytes += 100) {
		unsigned char *block = splash_alloc(3, bytes);

		assert_true((uintptr_t)block % 128 == 0);
		for (size_t i = 0; i < 3 * bytes; i++)
			assert_true(block[i] == 0);
		free(block);
	}
}

/* Two threads: one holds what the other waits for, and the profile says how long. */
struct meeting {
	struct splash_options opt;
	struct splash_lock lock;
	struct splash_flag flag;
	struct splash_barrier barrier;
	struct splash_worker other;
};

#define HELD_US 20000
#define HELD_NS (HELD_US * UINT64_C(1000))

static void *meet(void *arg)
{
	struct meeting *m = arg;

	splash_lock(&m->other, &m->lock);
	splash_unlock(&m->lock);
	splash_flag_wait(&m->other, &m->flag);
	splash_flag_wait(&m->other, &m->flag);
	splash_barrier(&m->other, &m->barrier);
	return NULL;
}

static void hold_up(struct meeting *m)
{
	struct splash_worker one = { .opt = &m->opt };
	pthread_t thread;

	m->other = (struct splash_worker){ .opt = &m->opt };
	splash_lock_init(&m->lock);
	splash_flag_init(&m->flag);
	splash_barrier_init(&m->barrier, 2);

	splash_lock(&one, &m->lock);
	pthread_create(&thread, NULL, meet, m);
	usleep(2 * HELD_US);
	splash_unlock(&m->lock);
	usleep(2 * HELD_US);
	splash_flag_set(&m->flag);
	usleep(2 * HELD_US);
	splash_barrier(&one, &m->barrier);
	pthread_join(thread, NULL);

	assert_true(one.profile.locks == 1 && one.profile.contended == 0);
	assert_true(one.profile.lock_ns == 0);
	assert_true(m->other.profile.locks == 1);
	assert_true(m->other.profile.flags == 2);
	assert_true(m->other.profile.barriers == 1);
}

static bool waited(const struct splash_profile *profile)
{
	return profile->contended == 1 && profile->lock_ns >= HELD_NS &&
	       profile->flag_ns >= HELD_NS && profile->barrier_ns >= HELD_NS;
}

TEST(profile)
{
	struct meeting m = { .opt = { .profile = true } };

	/* On a busy machine the other thread may arrive late, and then waits less. */
	for (int attempt = 0; attempt < 50 && !waited(&m.other.profile); attempt++)
		hold_up(&m);
	assert_true(waited(&m.other.profile));

	m.opt.profile = false;
	hold_up(&m);
	assert_true(m.other.profile.contended == 0);
	assert_true(!m.other.profile.lock_ns && !m.other.profile.flag_ns);
	assert_int_equal(m.other.profile.barrier_ns, 0);
}

TEST(flag_can_be_cleared)
{
	struct splash_flag flag;

	splash_flag_init(&flag);
	assert_true(!flag.set);
	splash_flag_set(&flag);
	assert_true(flag.set);
	splash_flag_clear(&flag);
	assert_true(!flag.set);
}

RUN_TESTS(NULL, NULL)
