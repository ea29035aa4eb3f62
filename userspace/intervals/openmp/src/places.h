/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of places: from OMP_PLACES, GOMP_CPU_AFFINITY, or the machine. */
#ifndef GOMP_PLACES_H
#define GOMP_PLACES_H

#include <sched.h>
#include <stdbool.h>

struct places {
	cpu_set_t *all;
	unsigned int count;
	bool left_out;			/* the list has places without CPUs of this process */
};

extern struct places gomp_places;

/* OMP_PLACES' value. NULL, or what is wrong: it is none, or has none of our CPUs. */
const char * gomp_places_parse(const char *words);
/* As it, GOMP_CPU_AFFINITY's: a place for each CPU. */
const char *gomp_places_parse_cpus(const char *words);

#endif
