// SPDX-License-Identifier: LGPL-2.1-or-later
/* Target regions and teams, on the host. */
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "places.h"
#include "workshare.h"
#include "task.h"

/* The lower byte is the kind of a mapping, the rest the logarithm of its alignment. */
#define MAP_FIRSTPRIVATE (1 << 3 | 1 << 2)
#define MAP_KIND 0xff
#define MAP_ALIGNMENT 8

/* Arguments of a target region. */
#define ARGUMENT_FOLLOWS (1 << 7)
#define ARGUMENT_DEVICE 0x7f
#define ARGUMENT_KIND 0xff00
#define ARGUMENT_THREAD_LIMIT (2 << 8)
#define ARGUMENT_VALUE 16

void GOMP_taskwait_depend(void **depend);

/* A target region's parameters, in its creator's frame. */
struct told {
	void (*function)(void *);
	size_t count;
	void **addresses;
	size_t *sizes;
	unsigned short *kinds;
	void **arguments;
};

/* A copy of them, for a later run. */
struct target {
	void (*function)(void *);
	struct icv icv;
	char *copies;			/* firstprivate data; NULL: none */
	void *addresses[];
};

static void limit_threads(struct icv *icv, unsigned long limit)
{
	if (limit)
		icv->thread_limit = limit > INT_MAX ? UINT_MAX : (unsigned int)limit;
}

static void read_arguments(struct icv *icv, void **arguments)
{
	while (arguments && *arguments) {
		const intptr_t word = (intptr_t)*arguments++;
		const intptr_t value = word & ARGUMENT_FOLLOWS ? (intptr_t)*arguments++ :
								 word >> ARGUMENT_VALUE;

		if (!(word & ARGUMENT_DEVICE) && (word & ARGUMENT_KIND) == ARGUMENT_THREAD_LIMIT)
			limit_threads(icv, (unsigned long)value);
	}
}

/* As on another device: outside of regions, but with the caller's threads. */
static void run_apart(void (*function)(void *), void *data, const struct icv *icv)
{
	atomic_uint busy = 0;
	struct member *self = gomp_member(), apart = { .pool_owner = self->pool_owner,
				 .attached = self->attached, .teams = 1,
				 .busy = &busy, .place = self->place,
				 .bound = self->bound, .part_count = gomp_places.count };

	gomp_base_begin(&apart, NULL, icv);
	gomp_self = &apart;
	function(data);
	gomp_self = self;
	gomp_workshare_leave(&apart);
	gomp_workshare_free_spares(&apart);
}

/* Fatal if another device than the host is mandatory. */
static void check_device(int device)
{
	if (gomp_environment.offload != OFFLOAD_MANDATORY)
		return;
	if (device == DEVICE_DEFAULT)
		device = omp_get_default_device();
	if (device > omp_get_initial_device())
		gomp_fatal("OMP_TARGET_OFFLOAD is MANDATORY, and device %d does not exist: the host "
			   "is the only device", device);
}

static size_t aligned(size_t at, size_t alignment)
{
	return (at + alignment - 1) & ~(alignment - 1);
}

/* An absent optional argument of Fortran has no address. */
static bool is_copied(const void *address, unsigned short kind)
{
	return address && (kind & MAP_KIND) == MAP_FIRSTPRIVATE;
}

/* Copy firstprivate data into one block. NULL: none. Free it. */
static char *copy_private(size_t count, void **addresses, const size_t *sizes,
			  const unsigned short *kinds)
{
	size_t most = 1, bytes = 0, at = 0;
	char *copies;

	for (size_t i = 0; i < count; i++) {
		const size_t alignment = (size_t)1 << (kinds[i] >> MAP_ALIGNMENT);

		if (!is_copied(addresses[i], kinds[i]))
			continue;
		most = alignment > most ? alignment : most;
		bytes = aligned(bytes, alignment) + sizes[i];
	}
	if (!bytes)
		return NULL;
	copies = gomp_allocate_aligned(most, bytes);
	for (size_t i = 0; i < count; i++) {
		if (!is_copied(addresses[i], kinds[i]))
			continue;
		at = aligned(at, (size_t)1 << (kinds[i] >> MAP_ALIGNMENT));
		memcpy(copies + at, addresses[i], sizes[i]);
		addresses[i] = copies + at;
		at += sizes[i];
	}
	return copies;
}

static struct target *make_target(const struct told *told)
{
	const size_t bytes = told->count * sizeof(*told->addresses);
	struct target *target = gomp_allocate(sizeof(*target) + bytes);

	target->function = told->function;
	target->icv = gomp_environment.icv;
	read_arguments(&target->icv, told->arguments);
	if (bytes)
		memcpy(target->addresses, told->addresses, bytes);
	target->copies = copy_private(told->count, target->addresses, told->sizes, told->kinds);
	return target;
}

static void end_target(struct target *target, bool runs)
{
	if (runs)
		run_apart(target->function, target->addresses, &target->icv);
	free(target->copies);
	free(target);
}

static void target_task(void *data)
{
	const struct member *self = gomp_member();

	end_target(*(struct target **)data, !gomp_task_cancelled(self, self->task));
}

/* Called only if the task is created, which then owns the copy. */
static void copy_target(void *to, void *from)
{
	struct target *target = make_target(from);

	memcpy(to, &target, sizeof(target));
}

GOMP_PUBLIC void GOMP_target_ext(int device, void (*function)(void *), size_t count,
				 void **addresses, size_t *sizes, unsigned short *kinds,
				 unsigned int flags, void **depend, void **arguments)
{
	struct told told = { .function = function, .count = count, .addresses = addresses,
			     .sizes = sizes, .kinds = kinds, .arguments = arguments };
	/* Having a copy constructor, it runs even when cancelled. */
	const struct order order = { .function = target_task, .data = &told, .copy = copy_target,
				     .bytes = sizeof(struct target *),
				     .alignment = _Alignof(struct target *),
				     .flags = depend ? TASK_DEPEND : 0, .depend = depend };

	check_device(device);
	if (flags & TARGET_NOWAIT) {
		gomp_task_create(gomp_member(), &order);
		return;
	}
	if (depend)
		GOMP_taskwait_depend(depend);
	end_target(make_target(&told), true);
}

GOMP_PUBLIC void GOMP_target(int device, void (*function)(void *), const void *unused,
			     size_t count, void **addresses, size_t *sizes, unsigned char *kinds)
{
	check_device(device);
	(void)unused, (void)count, (void)sizes, (void)kinds;
	run_apart(function, addresses, &gomp_environment.icv);
}

/* Nothing is mapped: the host's memory is the device's. */
GOMP_PUBLIC void GOMP_target_data(int device, const void *unused, size_t count, void **addresses,
				  size_t *sizes, unsigned char *kinds)
{
	check_device(device);
	(void)unused, (void)count, (void)addresses, (void)sizes, (void)kinds;
}

GOMP_PUBLIC void GOMP_target_data_ext(int device, size_t count, void **addresses, size_t *sizes,
				      unsigned short *kinds)
{
	check_device(device);
	(void)count, (void)addresses, (void)sizes, (void)kinds;
}

GOMP_PUBLIC void GOMP_target_end_data(void)
{
}

GOMP_PUBLIC void GOMP_target_update(int device, const void *unused, size_t count,
				    void **addresses, size_t *sizes, unsigned char *kinds)
{
	check_device(device);
	(void)unused, (void)count, (void)addresses, (void)sizes, (void)kinds;
}

GOMP_PUBLIC void GOMP_target_update_ext(int device, size_t count, void **addresses, size_t *sizes,
					unsigned short *kinds, unsigned int flags, void **depend)
{
	check_device(device);
	(void)count, (void)addresses, (void)sizes, (void)kinds;
	if (depend && flags & TARGET_NOWAIT)
		gomp_task_create_empty(depend);
	else if (depend)
		GOMP_taskwait_depend(depend);
}

GOMP_PUBLIC void GOMP_target_enter_exit_data(int device, size_t count, void **addresses,
					     size_t *sizes, unsigned short *kinds,
					     unsigned int flags, void **depend)
{
	GOMP_target_update_ext(device, count, addresses, sizes, kinds, flags, depend);
}

/* A function has one address. */
GOMP_PUBLIC void *GOMP_target_map_indirect_ptr(void *function)
{
	return function;
}

/* Tables of device code are not used. */
GOMP_PUBLIC void GOMP_offload_register(const void *host, int kind, const void *data)
{
	(void)host, (void)kind, (void)data;
}

GOMP_PUBLIC void GOMP_offload_unregister(const void *host, int kind, const void *data)
{
	(void)host, (void)kind, (void)data;
}

GOMP_PUBLIC void GOMP_offload_register_ver(unsigned int version, const void *host, int kind,
					   const void *data)
{
	(void)version, (void)host, (void)kind, (void)data;
}

GOMP_PUBLIC void GOMP_offload_unregister_ver(unsigned int version, const void *host, int kind,
					     const void *data)
{
	(void)version, (void)host, (void)kind, (void)data;
}

/* Teams. */

/* In a target region: one team, after its clauses. */
GOMP_PUBLIC void GOMP_teams(unsigned int teams, unsigned int limit)
{
	(void)teams;
	limit_threads(gomp_icv_own(gomp_member()->task), limit);
}

/* Called before each team and after the last; teams run one after the other. */
GOMP_PUBLIC bool GOMP_teams4(unsigned int least, unsigned int most, unsigned int limit, bool first)
{
	struct member *self = gomp_member();

	(void)most;
	if (!first)
		return ++self->team_number < self->teams;
	limit_threads(gomp_icv_own(self->task), limit);
	self->teams = least ? least : 1;
	self->team_number = 0;
	return true;
}

/* On the host: runs the league's teams one after the other. */
GOMP_PUBLIC void GOMP_teams_reg(void (*function)(void *), void *data, unsigned int teams,
				unsigned int limit, unsigned int flags)
{
	struct member *self = gomp_member();
	const struct icv before = *self->task->icv;
	const unsigned int number = self->team_number, all = self->teams;

	(void)flags;
	limit_threads(gomp_icv_own(self->task), limit ? limit : gomp_environment.teams_limit);
	self->teams = teams ? teams : gomp_environment.teams ? gomp_environment.teams : 3;
	for (self->team_number = 0; self->team_number < self->teams; self->team_number++)
		function(data);
	self->team_number = number;
	self->teams = all;
	gomp_icv_own(self->task)->thread_limit = before.thread_limit;
}

GOMP_QUERY(omp_get_num_teams, gomp_member()->teams)
GOMP_QUERY(omp_get_team_num, gomp_member()->team_number)

GOMP_PUBLIC void omp_set_num_teams(int teams)
{
	if (teams >= 0)
		gomp_environment.teams = (unsigned int)teams;
}

GOMP_QUERY(omp_get_max_teams, gomp_environment.teams)

GOMP_PUBLIC void omp_set_teams_thread_limit(int limit)
{
	if (limit >= 0)
		gomp_environment.teams_limit = (unsigned int)limit;
}

GOMP_QUERY(omp_get_teams_thread_limit, gomp_environment.teams_limit)
