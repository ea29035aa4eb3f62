// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "config.h"
#include "scheduler.h"
#include "tunables.h"

#define PREFIX "INTERVALS_"

const char *ivl_policy_name(enum ivl_policy policy)
{
	static const char *const names[] = { "adaptive", "work-first", "help-first" };

	return policy < IVL_POLICIES ? names[policy] : NULL;
}

const char *ivl_victims_name(enum ivl_victims victims)
{
	static const char *const names[] = { "random", "threshold", "domains", "domains-threshold" };

	return victims < IVL_VICTIM_POLICIES ? names[victims] : NULL;
}

const char *ivl_places_name(enum ivl_places_by places)
{
	static const char *const names[] = { "one", "numa", "package", "llc", "given" };

	return places < IVL_PLACES_KINDS ? names[places] : NULL;
}

static const char *queue_name(int i) { return ivl_queue_name(i); }
static const char *policy_name(int i) { return ivl_policy_name(i); }
static const char *victims_name(int i) { return ivl_victims_name(i); }
static const char *places_name(int i) { return i == IVL_PLACES_GIVEN ? NULL : ivl_places_name(i); }
static const char *switch_name(int i)
{
	static const char *const names[] = { "off", "on", NULL };

	return names[i];
}

static int choose(const char *variable, const char *(*name)(int), int *choice)
{
	const char *value = getenv(variable);
	char known[128] = "";

	if (!value)
		return 0;
	for (int i = 0; name(i); i++) {
		if (!strcmp(value, name(i))) {
			*choice = i;
			return 0;
		}
		strncat(known, i ? ", " : "", sizeof(known) - strlen(known) - 1);
		strncat(known, name(i), sizeof(known) - strlen(known) - 1);
	}
	return ivl_error(EINVAL, "%s=%s: not one of %s", variable, value, known);
}

int ivl_config_number(const char *variable, unsigned int least, unsigned int *result)
{
	const char *value = getenv(variable);
	unsigned long parsed;
	char *end;

	if (!value)
		return 0;
	errno = 0;
	parsed = strtoul(value, &end, 10);
	if (errno || end == value || *end || strchr(value, '-') || parsed < least ||
	    parsed > IVL_MOST)
		return ivl_error(EINVAL, "%s=%s: not a number from %u to %u", variable, value,
				 least, IVL_MOST);
	*result = (unsigned int)parsed;
	return 0;
}

int ivl_config_switch(const char *variable, bool *result)
{
	int choice = *result, error = choose(variable, switch_name, &choice);

	*result = choice;
	return error;
}

static int from_environment(struct ivl_config *config)
{
	int queue = config->queue, policy = config->policy, victims = config->victims,
	    places = config->places, pin = config->pin, cross = config->cross_place,
	    half = config->steal_half, statistics = config->statistics,
	    feedback = config->feedback, tied = config->tied;
	unsigned int kib = (unsigned int)(config->stack_bytes >> 10);
	unsigned int seed = (unsigned int)config->seed;
	unsigned int deadlock_ms = (unsigned int)config->deadlock_ms;
	int error = choose(PREFIX "QUEUE", queue_name, &queue);

	error = error ? error : choose(PREFIX "POLICY", policy_name, &policy);
	error = error ? error : choose(PREFIX "VICTIMS", victims_name, &victims);
	error = error ? error : choose(PREFIX "PLACES", places_name, &places);
	error = error ? error : choose(PREFIX "PIN", switch_name, &pin);
	error = error ? error : choose(PREFIX "CROSS_PLACE", switch_name, &cross);
	error = error ? error : choose(PREFIX "STEAL_HALF", switch_name, &half);
	error = error ? error : choose(PREFIX "STATISTICS", switch_name, &statistics);
	error = error ? error : choose(PREFIX "FEEDBACK", switch_name, &feedback);
	error = error ? error : choose(PREFIX "TIED", switch_name, &tied);
	error = error ? error : ivl_config_number(PREFIX "WORKERS", 1, &config->workers);
	error = error ? error : ivl_config_number(PREFIX "STACK", IVL_LEAST_STACK >> 10, &kib);
	error = error ? error :
		ivl_config_number(PREFIX "ADAPT_INTERVAL", 1, &config->adapt_interval);
	error = error ? error : ivl_config_number(PREFIX "ADAPT_STACK", 1, &config->adapt_stack);
	error = error ? error : ivl_config_number(PREFIX "ADAPT_FRESH", 1, &config->adapt_fresh);
	error = error ? error :
		ivl_config_number(PREFIX "THRESHOLD_LOW", 0, &config->threshold_low);
	error = error ? error :
		ivl_config_number(PREFIX "THRESHOLD_HIGH", 1, &config->threshold_high);
	error = error ? error :
		ivl_config_number(PREFIX "QUEUE_CAPACITY", 1, &config->queue_capacity);
	error = error ? error : ivl_config_number(PREFIX "FIBERS", 1, &config->fibers_per_worker);
	error = error ? error : ivl_config_number(PREFIX "SEED", 0, &seed);
	error = error ? error : ivl_config_number(PREFIX "DEADLOCK", 0, &deadlock_ms);
	config->seed = seed;
	config->deadlock_ms = deadlock_ms;
	config->stack_bytes = (size_t)kib << 10;
	config->queue = queue;
	config->policy = policy;
	config->victims = victims;
	config->places = places;
	config->pin = pin;
	config->cross_place = cross;
	config->steal_half = half;
	config->statistics = statistics;
	config->feedback = feedback;
	config->tied = tied;
	return error;
}

/* Smaller if the address space is limited (ulimit -v), to leave room for many. */
static size_t default_stack(void)
{
	struct rlimit space;

	if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur / IVL_STACKS_IN_SPACE >= IVL_STACK)
		return IVL_STACK;
	if (space.rlim_cur / IVL_STACKS_IN_SPACE <= IVL_LEAST_DEFAULT_STACK)
		return IVL_LEAST_DEFAULT_STACK;
	return space.rlim_cur / IVL_STACKS_IN_SPACE >> 10 << 10;
}

static int set_defaults(struct ivl_config *config)
{
	*config = (struct ivl_config){
		.size = sizeof(*config),
		.queue = IVL_QUEUE_CHASE_LEV,
		.policy = IVL_ADAPTIVE,
		.victims = IVL_VICTIMS_RANDOM,
		.places = IVL_PLACES_NUMA,
		.cross_place = true,
		.stack_bytes = default_stack(),
		.fibers_per_worker = 8192,
		/* SLAW, Table II. */
		.adapt_interval = 64,
		.adapt_fresh = 128,
		.adapt_stack = 256,
		.threshold_low = 1,
		.threshold_high = 2,
		.queue_capacity = 256,
		.seed = 1,
	};
	return from_environment(config);
}

/* The bytes that program and library both know. */
static size_t common(size_t size)
{
	return size < sizeof(struct ivl_config) ? size : sizeof(struct ivl_config);
}

static int check_size(size_t size)
{
	if (size >= offsetof(struct ivl_config, workers))
		return 0;
	return ivl_error(EINVAL, "config: size is %zu; ivl_config_init() sets it", size);
}

int ivl_config_init_size(struct ivl_config *config, size_t size)
{
	struct ivl_config defaults;
	int error = check_size(size);

	if (error)
		return error;
	error = set_defaults(&defaults);
	defaults.size = size;
	memset(config, 0, size);
	memcpy(config, &defaults, common(size));
	return error;
}

int ivl_config_complete(const struct ivl_config *given, struct ivl_config *config)
{
	int error = check_size(given->size);

	if (error)
		return error;
	for (size_t i = sizeof(*config); i < given->size; i++)
		if (((const char *)given)[i])
			return ivl_error(EINVAL, "config: a field is set that this library, "
					 "version " IVL_VERSION_STRING ", does not know");
	/* A program that knows all fields has already applied the environment, or overridden it. */
	error = given->size < sizeof(*config) ? set_defaults(config) : 0;
	memcpy(config, given, common(given->size));
	config->size = sizeof(*config);
	return error;
}
