/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of places: from OMP_PLACES, GOMP_CPU_AFFINITY, or the machine. */
#ifndef GOMP_PLACES_H
#define GOMP_PLACES_H

#include <sched.h>
#include <stdbool.h>

struct places {
	cpu_set_t *all;
	unsigned int count;
};

extern struct places gomp_places;

/* OMP_PLACES' value. False: it is none, or has none of our CPUs. */
bool gomp_places_parse(const char *words);
/* GOMP_CPU_AFFINITY's: a place for each CPU. */
bool gomp_places_parse_cpus(const char *words);

#endif
