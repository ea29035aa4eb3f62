// SPDX-License-Identifier: LGPL-2.1-or-later
#include "affinity.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

#include "env.h"
#include "places.h"

void gomp_places_init(void)
{
	const char *places = getenv("OMP_PLACES"), *cpus = getenv("GOMP_CPU_AFFINITY");
	struct icv *icv = &gomp_environment.icv;
	const char *wrong;

	if (gomp_environment.bind_levels && icv->bind == omp_proc_bind_false)
		return;
	wrong = places ? gomp_places_parse(places) : cpus ? gomp_places_parse_cpus(cpus) : NULL;
	if (wrong)
		gomp_complain(places ? "OMP_PLACES" : "GOMP_CPU_AFFINITY",
			      places ? places : cpus, wrong);
	else if (places && gomp_places.left_out)
		gomp_complain("OMP_PLACES", places,
			      "has places without a CPU of this process, which are left out");
	if (!gomp_places.count && gomp_environment.bind_levels)
		gomp_places_parse("cores");
	/* A list of places without OMP_PROC_BIND implies binding. */
	if (gomp_places.count && !gomp_environment.bind_levels)
		icv->bind = omp_proc_bind_true;
}

void gomp_places_enter(struct member *initial)
{
	initial->place = gomp_places.count != 0;
	initial->part_count = gomp_places.count;
}

void gomp_bind(struct member *self)
{
	if (!self->place || self->bound == self->place)
		return;
	pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t),
			       &gomp_places.all[self->place - 1]);
	self->bound = self->place;
}

static void put(struct member *member, unsigned int place, unsigned int part, unsigned int count)
{
	member->place = place + 1;
	member->part = part;
	member->part_count = count;
}

/* The place `steps` after the caller's own, within its partition. */
static unsigned int after(const struct member *self, unsigned int steps)
{
	const unsigned int own = self->place - 1 - self->part;

	return self->part + (own + steps) % self->part_count;
}

/*
 * Each thread gets a nearly equal part of the caller's partition; the first `more` parts have one
 * place more. The caller keeps its place, and gets the part around it.
 */
static void spread(struct member *self, struct team *team)
{
	const unsigned int size = team->size, each = self->part_count / size;
	const unsigned int more = self->part_count % size, larger = more * (each + 1);
	const unsigned int own = self->place - 1 - self->part;
	const unsigned int first = own < larger ? own / (each + 1) : more + (own - larger) / each;

	for (unsigned int i = 0; i < size; i++) {
		const unsigned int part = (first + i) % size;
		const unsigned int at = self->part + part * each + (part < more ? part : more);

		put(team->members[i], i ? at : self->place - 1, at, each + (part < more));
	}
}

/* Not inlined: most regions have no places, and save no registers for it. */
static __attribute__((noinline)) void choose(struct member *self, struct team *team,
					     unsigned int bind)
{
	const unsigned int size = team->size, count = self->part_count;

	gomp_bind(self);
	team->members[0]->bound = self->place;
	if (bind == omp_proc_bind_spread && size <= count) {
		spread(self, team);
		return;
	}
	for (unsigned int i = 0; i < size; i++) {
		/* With more threads than places, neighbours share one. */
		const unsigned int steps = bind == omp_proc_bind_primary ? 0 :
			size <= count ? i : (unsigned int)((unsigned long)i * count / size);
		const unsigned int place = after(self, steps);

		if (bind == omp_proc_bind_spread)
			put(team->members[i], place, place, 1);
		else
			put(team->members[i], place, self->part, count);
	}
}

void gomp_places_choose(struct member *self, struct team *team, unsigned int bind)
{
	const bool places = self->place && bind != omp_proc_bind_false;

	for (unsigned int i = 0; team->placed && i < team->size; i++)
		team->members[i]->place = 0;
	team->placed = places;
	if (places)
		choose(self, team, bind);
}

GOMP_PUBLIC omp_proc_bind_t omp_get_proc_bind(void)
{
	return (omp_proc_bind_t)gomp_member()->task->icv->bind;
}

GOMP_PUBLIC int omp_get_num_places(void)
{
	gomp_member();
	return (int)gomp_places.count;
}

GOMP_PUBLIC int omp_get_place_num(void)
{
	struct member *self = gomp_member();

	gomp_bind(self);
	return (int)self->place - 1;
}

GOMP_PUBLIC int omp_get_partition_num_places(void)
{
	return (int)gomp_member()->part_count;
}

GOMP_PUBLIC void omp_get_partition_place_nums(int *places)
{
	const struct member *self = gomp_member();

	for (int i = 0; i < omp_get_partition_num_places(); i++)
		places[i] = (int)self->part + i;
}

GOMP_PUBLIC int omp_get_place_num_procs(int place)
{
	return place < 0 || place >= omp_get_num_places() ? 0 :
							    CPU_COUNT(&gomp_places.all[place]);
}

GOMP_PUBLIC void omp_get_place_proc_ids(int place, int *cpus)
{
	if (place < 0 || place >= omp_get_num_places())
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &gomp_places.all[place]))
			*cpus++ = cpu;
}
