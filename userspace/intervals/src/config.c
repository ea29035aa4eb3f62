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

/* Unless an earlier one has failed. */
#define READ(field, type, read) \
	do { \
		type value = (type)config->field; \
		\
		if (!error) \
			error = read; \
		config->field = value; \
	} while (0)
#define CHOOSE(name, field, names) READ(field, int, choose(PREFIX name, names, &value))
#define NUMBER(name, field, least) \
	READ(field, unsigned int, ivl_config_number(PREFIX name, least, &value))

static int from_environment(struct ivl_config *config)
{
	unsigned int kib = (unsigned int)(config->stack_bytes >> 10);
	int error = ivl_config_number(PREFIX "STACK", IVL_LEAST_STACK >> 10, &kib);

	config->stack_bytes = (size_t)kib << 10;
	CHOOSE("QUEUE", queue, queue_name);
	CHOOSE("POLICY", policy, policy_name);
	CHOOSE("VICTIMS", victims, victims_name);
	CHOOSE("PLACES", places, places_name);
	CHOOSE("PIN", pin, switch_name);
	CHOOSE("CROSS_PLACE", cross_place, switch_name);
	CHOOSE("STEAL_HALF", steal_half, switch_name);
	CHOOSE("STATISTICS", statistics, switch_name);
	CHOOSE("FEEDBACK", feedback, switch_name);
	CHOOSE("TIED", tied, switch_name);
	NUMBER("WORKERS", workers, 1);
	NUMBER("ADAPT_INTERVAL", adapt_interval, 1);
	NUMBER("ADAPT_STACK", adapt_stack, 1);
	NUMBER("ADAPT_FRESH", adapt_fresh, 1);
	NUMBER("THRESHOLD_LOW", threshold_low, 0);
	NUMBER("THRESHOLD_HIGH", threshold_high, 1);
	NUMBER("QUEUE_CAPACITY", queue_capacity, 1);
	NUMBER("FIBERS", fibers_per_worker, 1);
	NUMBER("SEED", seed, 0);
	NUMBER("DEADLOCK", deadlock_ms, 0);
	NUMBER("SEARCH", search_us, 0);
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
		.search_us = IVL_SEARCH_MEASURED,
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
