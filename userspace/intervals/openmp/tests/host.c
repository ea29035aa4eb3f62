// SPDX-License-Identifier: LGPL-2.1-or-later
/* Target regions and teams on the host; allocators. */
#include <sys/wait.h>

#include "../../tests/test.h"
#include "check.h"

TEST(target)
{
	int array[100], sum = 0, private = 5, block[4] = { 1, 2, 3, 4 };

	for (int i = 0; i < 100; i++)
		array[i] = i;
#pragma omp target map(tofrom : sum) map(to : array) firstprivate(private, block)
	{
		CHECK(block[3] == 4);
		block[3] = 0;
		CHECK(omp_is_initial_device() && !omp_in_parallel());
		private++;
#pragma omp parallel for reduction(+ : sum)
		for (int i = 0; i < 100; i++)
			sum += array[i] + private;
	}
	CHECK(sum == 4950 + 600 && private == 5 && block[3] == 4);
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
	for (int i = 0; i < 100; i++)
		sum += array[i];
	CHECK(sum == 5550 + 4950);
}

/* Their creator continues, and fulfils the event they wait for. */
TEST(later)
{
#pragma omp parallel
#pragma omp single
	{
		int before = 0, array[10] = { 0 }, private = 3;
		omp_event_handle_t event;

#pragma omp task detach(event) depend(out : before) shared(before)
		before = 1;
		for (int i = 0; i < 10; i++) {
#pragma omp target nowait depend(in : before) depend(out : array[i]) \
	map(tofrom : array[i : 1]) map(to : before) firstprivate(private)
			{
				array[i] = private + before;
				private = 0;
			}
		}
		private = 100;
#pragma omp target enter data nowait map(to : array) depend(inout : array[0])
		CHECK(!array[0] && !array[9]);
		omp_fulfill_event(event);
#pragma omp taskwait
		for (int i = 0; i < 10; i++)
			CHECK(array[i] == 4);
	}
}

/* A task that has not begun, and one that is not made; their arguments are freed. */
TEST(cancelled)
{
	int ran = 0, private = 1;

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
	{
#pragma omp task if (0)
		{
#pragma omp cancel taskgroup
		}
#pragma omp target nowait map(tofrom : ran) firstprivate(private)
		ran += private;
	}
	CHECK(ran == !omp_get_cancellation());
	ran = 0;

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
	{
#pragma omp task depend(out : ran)
		{
#pragma omp cancel taskgroup
		}
#pragma omp target nowait depend(in : ran) map(tofrom : ran)
		ran++;
	}
	CHECK(ran == !omp_get_cancellation());
}

/* The child has threads of its own, which ThreadSanitizer does not allow. */
TEST(forked)
{
#ifndef __SANITIZE_THREAD__
#pragma omp parallel num_threads(2)
	;
#pragma omp target
	{
		const pid_t child = fork();
		int sum = 0, status;

		if (!child) {
			alarm(60);
#pragma omp parallel num_threads(2) reduction(+ : sum)
			sum++;
			_exit(sum == 2 ? EXIT_SUCCESS : EXIT_FAILURE);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	}
#endif
}

/* The threads of the region around it are not in its contention group. */
static void limited(void)
{
	int size = 0;

#pragma omp target thread_limit(2) map(from : size)
	{
		CHECK(omp_get_thread_limit() == 2);
#pragma omp parallel num_threads(2)
#pragma omp single
		size = omp_get_num_threads();
	}
	CHECK(size == 2);
}

TEST(limits)
{
#pragma omp teams num_teams(1) thread_limit(2)
#pragma omp parallel num_threads(2)
#pragma omp single
	limited();
}

TEST(teams)
{
	int seen = 0;

#pragma omp teams num_teams(3) reduction(+ : seen)
	{
		CHECK(omp_get_num_teams() == 3);
		seen += 1 << omp_get_team_num();
	}
	CHECK(seen == 7);
}

TEST(allocators)
{
	const omp_alloctrait_t traits[] = { { omp_atk_alignment, 256 },
					    { omp_atk_pool_size, 1000 },
					    { omp_atk_fallback, omp_atv_null_fb } };
	const omp_alloctrait_t bad[] = { { omp_atk_alignment, 3 } };
	omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 3, traits);
	char *one = omp_alloc(600, allocator), *other;

	CHECK(one && !((uintptr_t)one % 256));
	CHECK(!omp_alloc(600, allocator));
	omp_free(one, allocator);
	other = omp_calloc(10, 60, allocator);
	CHECK(other && !other[599]);
	other = omp_realloc(other, 900, allocator, allocator);
	CHECK(other && !other[599]);
	omp_free(other, omp_null_allocator);
	omp_destroy_allocator(allocator);
	CHECK(omp_init_allocator(omp_default_mem_space, 1, bad) == omp_null_allocator);
}

void GOMP_target_ext(int device, void (*function)(void *), size_t count, void **addresses,
		     size_t *sizes, unsigned short *kinds, unsigned int flags, void **depend,
		     void **arguments);

static void expect_nothing(void *data)
{
	void **const addresses = data;

	CHECK(!addresses[0] && *(int *)addresses[1] == 7);
	*(int *)addresses[1] = 8;
}

/* gfortran asks so for an optional argument that is absent: firstprivate, without an address. */
TEST(absent)
{
	int there = 7;
	void *addresses[] = { NULL, &there };
	size_t sizes[] = { 64, sizeof(there) };
	unsigned short kinds[] = { 12 | 3 << 8, 12 | 2 << 8 };

	GOMP_target_ext(-1, expect_nothing, 2, addresses, sizes, kinds, 0, NULL, NULL);
	CHECK(there == 7);
}

TEST_MAIN(NULL, NULL)
