// SPDX-License-Identifier: LGPL-2.1-or-later
#include "places.h"

#include <ctype.h>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <hwloc_quiet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "env.h"

struct places gomp_places;

/* Why a list was rejected; empty: not a list, or no CPUs of this process. */
static char wrong[80];

#define NO_CPUS "names no CPUs of this process; ignored"

/* The CPUs of `place` that the process may use. */
static cpu_set_t ours(const cpu_set_t *place)
{
	cpu_set_t cpus;

	CPU_AND(&cpus, &gomp_environment.allowed, place);
	return cpus;
}

/* As in libgomp, a CPU out of range invalidates the whole list. */
static bool in_range(long cpu)
{
	if (cpu >= 0 && cpu < gomp_environment.numbers)
		return true;
	snprintf(wrong, sizeof(wrong), "has CPU %ld, the maximum is %ld; ignored", cpu,
		 gomp_environment.numbers - 1);
	return false;
}

static bool add(const cpu_set_t *place)
{
	const cpu_set_t cpus = ours(place);
	cpu_set_t *all;

	if (!CPU_COUNT(&cpus)) {
		gomp_places.left_out = true;
		return true;
	}
	all = realloc(gomp_places.all, (gomp_places.count + 1) * sizeof(*all));
	if (!all)
		return false;
	all[gomp_places.count++] = cpus;
	gomp_places.all = all;
	return true;
}

/* False: no such place. */
static bool take_out(const cpu_set_t *place)
{
	const cpu_set_t cpus = ours(place);
	const unsigned int count = gomp_places.count;

	gomp_places.count = 0;
	for (unsigned int i = 0; i < count; i++)
		if (!CPU_EQUAL(&gomp_places.all[i], &cpus))
			gomp_places.all[gomp_places.count++] = gomp_places.all[i];
	return gomp_places.count < count || !CPU_COUNT(&cpus);
}

static bool accept(const char **text, char wanted)
{
	gomp_skip_blanks(text);
	if (**text != wanted)
		return false;
	(*text)++;
	gomp_skip_blanks(text);
	return true;
}

static bool number(const char **text, long least, long *value)
{
	char *end;

	gomp_skip_blanks(text);
	*value = strtol(*text, &end, 10);
	if (end == *text || *value < least || *value > INT_MAX)
		return false;
	*text = end;
	gomp_skip_blanks(text);
	return true;
}

/* ":LENGTH:STRIDE", both optional. */
static bool run(const char **text, long *length, long *stride)
{
	*length = *stride = 1;
	if (!accept(text, ':'))
		return true;
	if (!number(text, 1, length) || *length > CPU_SETSIZE)
		return false;
	return !accept(text, ':') || number(text, INT_MIN, stride);
}

/* A CPU or a run of them; with ! they are taken out. */
static bool parse_part(const char **text, cpu_set_t *place)
{
	const bool out = accept(text, '!');
	long first, length, stride;

	if (!number(text, 0, &first) || !run(text, &length, &stride))
		return false;
	for (long i = 0; i < length; i++) {
		const long cpu = first + i * stride;

		if (!in_range(cpu))
			return false;
		if (out)
			CPU_CLR((size_t)cpu, place);
		else
			CPU_SET((size_t)cpu, place);
	}
	return true;
}

static bool shift(const cpu_set_t *place, long by, cpu_set_t *shifted)
{
	CPU_ZERO(shifted);
	for (long cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, place))
			continue;
		if (!in_range(cpu + by))
			return false;
		CPU_SET((size_t)(cpu + by), shifted);
	}
	return true;
}

/* {CPUS}, or one CPU. */
static bool parse_cpus(const char **text, cpu_set_t *place)
{
	long cpu;

	CPU_ZERO(place);
	if (!accept(text, '{')) {
		if (!number(text, 0, &cpu) || !in_range(cpu))
			return false;
		CPU_SET((size_t)cpu, place);
		return true;
	}
	do {
		if (!parse_part(text, place))
			return false;
	} while (accept(text, ','));
	return accept(text, '}');
}

/* A place, or a run with its CPUs shifted; with ! an earlier place is removed. */
static bool parse_place(const char **text)
{
	const bool out = accept(text, '!');
	cpu_set_t place, shifted;
	long length, stride;

	if (!parse_cpus(text, &place))
		return false;
	if (out)
		return take_out(&place);
	if (!run(text, &length, &stride))
		return false;
	for (long i = 0; i < length; i++)
		if (!shift(&place, i * stride, &shifted) || !add(&shifted))
			return false;
	return true;
}

static bool add_objects(hwloc_topology_t topology, hwloc_obj_type_t type, long most)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(topology, type, object)) &&
	       gomp_places.count < (unsigned long)most) {
		cpu_set_t set;

		if (hwloc_cpuset_to_glibc_sched_affinity(topology, object->cpuset, &set,
							 sizeof(set)) || !add(&set))
			return false;
	}
	return true;
}

static bool parse_abstract(const char *text, bool *known)
{
	static const struct {
		const char *word;
		hwloc_obj_type_t type;
	} kinds[] = {
		{ "threads", HWLOC_OBJ_PU }, { "cores", HWLOC_OBJ_CORE },
		{ "sockets", HWLOC_OBJ_PACKAGE }, { "ll_caches", HWLOC_OBJ_L3CACHE },
		{ "numa_domains", HWLOC_OBJ_NUMANODE },
	};
	hwloc_topology_t topology;
	long most = INT_MAX;
	size_t kind = 0, length;
	bool good;

	gomp_skip_blanks(&text);
	for (; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		length = strlen(kinds[kind].word);
		if (!strncasecmp(text, kinds[kind].word, length) &&
		    !isalpha((unsigned char)text[length]))
			break;
	}
	*known = kind < sizeof(kinds) / sizeof(*kinds);
	if (!*known)
		return false;
	text += length;
	gomp_skip_blanks(&text);
	if (accept(&text, '(') && (!number(&text, 1, &most) || !accept(&text, ')')))
		return false;
	if (*text || ivl_topology_init(&topology))
		return false;
	good = !hwloc_topology_load(topology) && add_objects(topology, kinds[kind].type, most);
	/* The machine may not report caches. */
	if (good && !gomp_places.count)
		good = add_objects(topology, HWLOC_OBJ_PACKAGE, most);
	hwloc_topology_destroy(topology);
	/* The machine may have more CPUs than the process. */
	gomp_places.left_out = false;
	return good;
}

const char *gomp_places_parse(const char *words)
{
	const char *text = words;
	bool abstract, good = parse_abstract(words, &abstract);

	if (!abstract) {
		do {
			good = parse_place(&text);
		} while (good && accept(&text, ','));
		good = good && !*text;
	}
	if (good && gomp_places.count)
		return NULL;
	gomp_places.count = 0;
	return *wrong ? wrong : NO_CPUS;
}

const char *gomp_places_parse_cpus(const char *words)
{
	const char *text = words;
	long first, last, stride;

	bool good = true;

	for (gomp_skip_blanks(&text); *text && good; accept(&text, ',')) {
		good = number(&text, 0, &first);
		last = first;
		stride = 1;
		if (good && accept(&text, '-'))
			good = number(&text, first, &last) &&
			       (!accept(&text, ':') || number(&text, 1, &stride));
		for (; good && first <= last && first < CPU_SETSIZE; first += stride) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET((size_t)first, &set);
			good = add(&set);
		}
	}
	if (!good)
		gomp_places.count = 0;
	return gomp_places.count ? NULL : NO_CPUS;
}
