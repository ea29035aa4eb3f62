/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OpenMP libraries beside this one. Wheels carry a renamed copy of libgomp, which the loader maps
 * beside this one. A name that this library lacks binds to the copy, which knows nothing of the
 * threads here. So a warning names the copy, once: when the program first uses this library, or, of
 * a copy that is loaded later, at the program's end.
 */
#ifndef GOMP_OTHER_LIBRARIES_H
#define GOMP_OTHER_LIBRARIES_H

void gomp_warn_of_other_libraries(void);

#endif
