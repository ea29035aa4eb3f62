/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Warns of other OpenMP libraries in the process. Python wheels bring a renamed copy of libgomp. A
 * name that this library lacks binds to the copy, which knows nothing of this library's threads.
 * The warning comes once: on first use of this library, or at exit if the copy was loaded later.
 */
#ifndef GOMP_OTHER_LIBRARIES_H
#define GOMP_OTHER_LIBRARIES_H

void gomp_warn_of_other_libraries(void);

#endif
