/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_CONFIG_H
#define IVL_CONFIG_H

#include <stdbool.h>

#include "intervals.h"

/*
 * A program's configuration, as this library knows it: what an older program does not know
 * has its default. EINVAL: its size is none, or a field is set that this library does not know.
 */
int ivl_config_complete(const struct ivl_config *given, struct ivl_config *config);

/* The most of anything that is counted: no machine has as many CPUs, by far. */
#define IVL_MOST (1u << 20)

/*
 * The number that a variable of the environment has, if it is set. EINVAL: it is no number, or
 * less than `least`, or more than IVL_MOST.
 */
int ivl_config_number(const char *variable, unsigned int least, unsigned int *result);
/* As it, of one that is on or off. */
int ivl_config_switch(const char *variable, bool *result);

#endif
