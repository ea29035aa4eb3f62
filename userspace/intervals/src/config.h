/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_CONFIG_H
#define IVL_CONFIG_H

#include "intervals.h"

/*
 * A program's configuration, as this library knows it: what an older program does not know
 * has its default. EINVAL: its size is none, or a field is set that this library does not know.
 */
int ivl_config_complete(const struct ivl_config *given, struct ivl_config *config);

#endif
