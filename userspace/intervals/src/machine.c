// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hwloc_quiet.h"
#include "scheduler.h"

#define PREFIX "HWLOC_"

/* Held from ivl_machine_get() to ivl_machine_put(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hwloc_topology_t machine;	/* NULL: not loaded */
static char *loaded_by;			/* the environment that hwloc has read */

/* The variables that hwloc reads. NULL: ENOMEM. */
static char *environment(void)
{
	size_t bytes = 1, used = 0;
	char *all;

	for (char **variable = environ; variable && *variable; variable++)
		bytes += strlen(*variable) + 1;
	all = malloc(bytes);
	for (char **variable = environ; all && variable && *variable; variable++) {
		if (strncmp(*variable, PREFIX, strlen(PREFIX)))
			continue;
		strcpy(all + used, *variable);
		used += strlen(*variable);
		all[used++] = '\n';
	}
	if (all)
		all[used] = '\0';
	return all;
}

static int load(hwloc_topology_t *topology)
{
	int error = 0;

	if (ivl_topology_init(topology))
		return ENOMEM;
	/* Discovery must not migrate the caller, and only the tree is needed. */
	if (hwloc_topology_set_flags(*topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
				     HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
				     HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
				     HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS) ||
	    hwloc_topology_load(*topology))
		error = errno == ENOMEM ? ENOMEM :
			ivl_error(EINVAL, "hwloc cannot read this machine's topology");
	if (error)
		hwloc_topology_destroy(*topology);
	return error;
}

static void forget(void)
{
	if (machine)
		hwloc_topology_destroy(machine);
	free(loaded_by);
	machine = NULL;
	loaded_by = NULL;
}

/* hwloc leaves out what the cgroup forbids, which may have changed. */
static bool has_all(hwloc_const_bitmap_t cpus)
{
	return hwloc_bitmap_isincluded(cpus, hwloc_topology_get_topology_cpuset(machine));
}

static int ask_cpus(hwloc_bitmap_t cpus)
{
	if (!hwloc_get_cpubind(machine, cpus, HWLOC_CPUBIND_THREAD))
		return 0;
	return errno == ENOMEM ? ENOMEM :
	       ivl_error(EINVAL, "hwloc cannot read this thread's CPU affinity");
}

/* `now`: environment(), which is kept or freed. */
static int bring_up_to_date(char *now, hwloc_bitmap_t cpus)
{
	const bool known = machine && !strcmp(now, loaded_by);
	int error = known ? ask_cpus(cpus) : 0;

	if (!error && known && (!hwloc_topology_is_thissystem(machine) || has_all(cpus))) {
		free(now);
		return 0;
	}
	forget();
	loaded_by = now;
	if (!error)
		error = load(&machine);
	if (error)
		machine = NULL;
	return error ? error : ask_cpus(cpus);
}

static int restricted(hwloc_topology_t *topology, hwloc_const_bitmap_t cpus)
{
	*topology = machine;
	if (!hwloc_topology_is_thissystem(machine) ||
	    hwloc_bitmap_isequal(cpus, hwloc_topology_get_topology_cpuset(machine)))
		return 0;
	if (hwloc_topology_dup(topology, machine))
		return ENOMEM;
	if (!hwloc_topology_restrict(*topology, cpus, 0))
		return 0;
	hwloc_topology_destroy(*topology);
	return errno == ENOMEM ? ENOMEM :
	       ivl_error(EINVAL, "this thread may use none of the CPUs that hwloc knows");
}

int ivl_machine_get(hwloc_topology_t *topology)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	char *now = environment();
	int error = cpus && now ? 0 : ENOMEM;

	pthread_mutex_lock(&lock);
	if (error)
		free(now);
	else
		error = bring_up_to_date(now, cpus);
	if (!error)
		error = restricted(topology, cpus);
	hwloc_bitmap_free(cpus);
	if (error)
		pthread_mutex_unlock(&lock);
	return error;
}

void ivl_machine_put(hwloc_topology_t topology)
{
	if (topology != machine)
		hwloc_topology_destroy(topology);
	pthread_mutex_unlock(&lock);
}

void ivl_machine_after_fork(void)
{
	/* Another thread was using it, and may have been replacing it. */
	if (pthread_mutex_trylock(&lock)) {
		pthread_mutex_init(&lock, NULL);
		machine = NULL;
		loaded_by = NULL;
	} else {
		pthread_mutex_unlock(&lock);
	}
}

/* The library is unloaded, or the process ends. */
__attribute__((destructor)) static void end_of_library(void)
{
	if (pthread_mutex_trylock(&lock))
		return;
	forget();
	pthread_mutex_unlock(&lock);
}
