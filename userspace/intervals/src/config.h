/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_CONFIG_H
#define IVL_CONFIG_H

#include <stdbool.h>

#include "intervals.h"

/*
 * A program's configuration as this library knows it: fields that an older program lacks get their
 * defaults. EINVAL: bad size, or a field is set that this library does not know.
 */
int ivl_config_complete(const struct ivl_config *given, struct ivl_config *config);

/* Upper limit of all counts, far above the CPUs of any machine. */
#define IVL_MOST (1u << 20)

/*
 * Read a number from the environment, if the variable is set. EINVAL: not a number from `least` to
 * IVL_MOST.
 */
int ivl_config_number(const char *variable, unsigned int least, unsigned int *result);
/* The same for "on" and "off". */
int ivl_config_switch(const char *variable, bool *result);

#endif
