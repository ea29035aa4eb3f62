/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OMP_DISPLAY_ENV and omp_display_env(). */
#ifndef GOMP_DISPLAY_H
#define GOMP_DISPLAY_H

void gomp_display_init(void);

#endif
