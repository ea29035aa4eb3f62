// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "sched_stat.h"

bool sched_stat_add(struct sched_stat *sum, pid_t tid)
{
	char path[64], line[256];
	uint64_t switches, migrations;
	bool has_switches = false, has_migrations = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/sched", (int)tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "nr_switches : %" SCNu64, &switches) == 1)
			has_switches = true;
		else if (sscanf(line, "se.nr_migrations : %" SCNu64, &migrations) == 1)
			has_migrations = true;
	}
	fclose(file);
	if (!has_switches || !has_migrations)
		return false;
	sum->context_switches += switches;
	sum->migrations += migrations;
	return true;
}

struct sched_stat sched_stat_of_process(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct sched_stat){
		.context_switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw,
	};
}
