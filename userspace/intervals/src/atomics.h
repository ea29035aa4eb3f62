/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * C11 atomics, or in the models (IVL_MODEL, models/relacy_atomics.hpp) relacy's in
 * their place: the models compile the same source as the product.
 *
 * To be compiled as both, a source declares _Atomic(type), uses the _explicit
 * functions on it, and declares IVL_SHARED(type) what is not atomic but passes from
 * thread to thread, so that the model finds the races on it.
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
