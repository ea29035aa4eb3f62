/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of places: from OMP_PLACES, GOMP_CPU_AFFINITY, or the machine. */
#ifndef GOMP_PLACES_H
#define GOMP_PLACES_H

#include <sched.h>
#include <stdbool.h>

struct places {
	cpu_set_t *all;
	unsigned int count;
	bool left_out;			/* some places have no CPUs of this process */
};

extern struct places gomp_places;

/* Parse OMP_PLACES. Returns NULL, or the reason for rejecting it. */
const char *gomp_places_parse(const char *words);
/* Parse GOMP_CPU_AFFINITY: a place per CPU. */
const char *gomp_places_parse_cpus(const char *words);

#endif
