/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model has none. */
#ifndef IVL_PROBES_H
#define IVL_PROBES_H

#define IVL_PROBE1(name, one) ((void)0)
#define IVL_PROBE2(name, one, two) ((void)0)

#endif
