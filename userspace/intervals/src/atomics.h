/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * C11 atomics, or relacy's in the models (IVL_MODEL, models/relacy_atomics.hpp), which compile the
 * same source as the product.
 *
 * Such a source declares _Atomic(type), uses the _explicit functions, and declares IVL_SHARED(type)
 * for plain variables that pass from thread to thread, so that the model finds races on them.
 */
#ifndef IVL_ATOMICS_H
#define IVL_ATOMICS_H

#ifdef IVL_MODEL
#include "relacy_atomics.hpp"
#else
#include <stdatomic.h>
#define IVL_SHARED(type) type
#endif

#endif
