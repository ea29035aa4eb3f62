// SPDX-License-Identifier: LGPL-2.1-or-later
/* Strict parser of given CPU lists: hwloc's accepts garbage. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "place_cpus.h"
#include "scheduler.h"

/* Digits only, unlike strtoul(). False: none, or beyond UINT_MAX. */
static bool read_number(const char **at, unsigned int *number)
{
	unsigned long long value = 0;
	const char *c = *at;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (unsigned int)(*c - '0');
		if (value > UINT_MAX)
			return false;
	}
	if (c == *at)
		return false;
	*at = c;
	*number = (unsigned int)value;
	return true;
}

static int unknown_cpu(const char *list, unsigned int place, unsigned int cpu,
		       hwloc_const_bitmap_t allowed)
{
	char *known = NULL;

	if (hwloc_bitmap_list_asprintf(&known, allowed) < 0)
		return ENOMEM;
	ivl_error(EINVAL, "place %u: \"%s\": this process may not use CPU %u, only %s", place, list,
		  cpu, known);
	free(known);
	return EINVAL;
}

static int add_range(const char *list, unsigned int place, unsigned int first, unsigned int last,
		     hwloc_const_bitmap_t allowed, hwloc_const_bitmap_t taken, hwloc_bitmap_t cpus)
{
	/* Ends at the first unknown CPU, before it can wrap. */
	for (unsigned int cpu = first; cpu <= last; cpu++) {
		if (cpu > INT_MAX || !hwloc_bitmap_isset(allowed, cpu))
			return unknown_cpu(list, place, cpu, allowed);
		if (hwloc_bitmap_isset(taken, cpu))
			return ivl_error(EINVAL, "place %u: \"%s\": CPU %u is in another place too",
					 place, list, cpu);
		if (hwloc_bitmap_set(cpus, cpu))
			return ENOMEM;
	}
	return 0;
}

int ivl_cpus_parse(const char *list, unsigned int place, hwloc_const_bitmap_t allowed,
		   hwloc_const_bitmap_t taken, hwloc_bitmap_t cpus)
{
	const char *at = list;

	if (!list || !*list)
		return ivl_error(EINVAL, "place %u: the list of CPUs is empty", place);
	for (;;) {
		unsigned int first, last;
		int error;

		if (!read_number(&at, &first))
			break;
		last = first;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &last) || last < first)
				break;
		}
		error = add_range(list, place, first, last, allowed, taken, cpus);
		if (error || !*at)
			return error;
		if (*at++ != ',')
			break;
	}
	return ivl_error(EINVAL, "place %u: \"%s\" is not a list of CPUs such as \"0-3,8\"", place,
			 list);
}
