// SPDX-License-Identifier: GPL-2.0
#include "cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int parse_number(const char **text)
{
	char *end;
	long number;

	/* strtol() would take blanks and signs, too. */
	if (!isdigit((unsigned char)**text))
		return -1;
	number = strtol(*text, &end, 10);
	*text = end;
	return number < CPU_SETSIZE ? (int)number : -1;
}

int cpus_parse(const char *list, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	for (;; list++) {
		int first = parse_number(&list), last = first;

		if (*list == '-') {
			list++;
			last = parse_number(&list);
		}
		if (first < 0 || last < first)
			return -1;
		for (int cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, cpus);
		if (!*list)
			return 0;
		if (*list != ',')
			return -1;
	}
}

/* The kernel refuses a set that is smaller than its own, which has 8,192 CPUs at most. */
int cpus_allowed(pid_t pid, cpu_set_t *cpus)
{
	cpu_set_t all[8192 / CPU_SETSIZE];

	if (sched_getaffinity(pid, sizeof(all), all))
		return -1;
	*cpus = all[0];
	for (size_t i = 1; i < sizeof(all) / sizeof(all[0]); i++)
		if (CPU_COUNT(&all[i])) {
			errno = EOVERFLOW;
			return -1;
		}
	return 0;
}

void cpus_format(const cpu_set_t *cpus, char *text, size_t size)
{
	const char *comma = "";
	size_t used = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++) {
		int first = cpu;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, cpus))
			cpu++;
		used += (size_t)snprintf(text + used, size - used, first < cpu ? "%s%d-%d" : "%s%d",
					 comma, first, cpu);
		comma = ",";
	}
}
