// SPDX-License-Identifier: LGPL-2.1-or-later
/* OMP_PLACES=threads, OMP_PROC_BIND=close: each thread is where it says. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "check.h"

static void is_bound(void)
{
	const int place = omp_get_place_num();
	int cpus[CPU_SETSIZE];
	cpu_set_t set;

	CHECK(place >= 0 && place < omp_get_num_places());
	CHECK(omp_get_place_num_procs(place) == 1);
	omp_get_place_proc_ids(place, cpus);
	CHECK(!sched_getaffinity(0, sizeof(set), &set));
	CHECK(CPU_COUNT(&set) == 1 && CPU_ISSET((size_t)cpus[0], &set));
}

static void is_bound_as_initial(void)
{
	int different = 0;

	CHECK(omp_get_partition_num_places() == omp_get_num_places());
#pragma omp parallel num_threads(2) reduction(| : different)
	{
		is_bound();
		different |= omp_get_place_num() != 0;
	}
	is_bound();
	CHECK(different == (omp_get_num_places() > 1));
}

static void *begin_own(void *arg)
{
	cpu_set_t before, after;

	/* A thread that only asks for something else stays where it is: not where its creator is. */
	memset(&before, 0xff, sizeof(before));
	CHECK(!sched_setaffinity(0, sizeof(before), &before));
	CHECK(!sched_getaffinity(0, sizeof(before), &before));
	CHECK(omp_get_max_threads() && !sched_getaffinity(0, sizeof(after), &after));
	CHECK(CPU_EQUAL(&before, &after));
	is_bound_as_initial();
	return arg;
}

/* Regions begun by other threads. */
static void other_callers(void)
{
	pthread_t other;

	CHECK(!pthread_create(&other, NULL, begin_own, NULL) && !pthread_join(other, NULL));
#pragma omp target
	is_bound_as_initial();
}

/* However long it is. */
static void displayed(void)
{
	enum { LENGTH = 6000 };
	static char format[LENGTH + 1], line[LENGTH + 3];
	FILE *file = tmpfile();
	const int before = dup(STDERR_FILENO);

	memset(format, 'y', LENGTH);
	CHECK(file && dup2(fileno(file), STDERR_FILENO) >= 0);
	omp_display_affinity(format);
	CHECK(dup2(before, STDERR_FILENO) >= 0 && !close(before));
	rewind(file);
	CHECK(fgets(line, sizeof(line), file) && strlen(line) == LENGTH + 1);
	CHECK(!strncmp(line, format, LENGTH));
	fclose(file);
}

int main(void)
{
	int different = 0, all = omp_get_partition_num_places();

	CHECK(all == omp_get_num_places());
	CHECK(omp_get_num_places() == omp_get_num_procs());
	CHECK(omp_get_proc_bind() == omp_proc_bind_close);
	is_bound();
#pragma omp parallel reduction(| : different)
	{
		is_bound();
		different |= omp_get_place_num() != 0;
	}
	CHECK(different == (omp_get_max_threads() > 1 && omp_get_num_places() > 1));
#pragma omp parallel proc_bind(primary) num_threads(3)
	CHECK(omp_get_place_num() == 0);
	other_callers();
	displayed();
	return 0;
}
