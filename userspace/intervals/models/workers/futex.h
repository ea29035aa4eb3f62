/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreign threads sleep as workers without work do. */
#ifndef IVL_FUTEX_H
#define IVL_FUTEX_H

#include "relacy_queue.hpp"

#define ivl_futex_wait(word, value) \
	((word)->now() == (value) ? ivl_model_park(word) : (void)0)
#define ivl_futex_wake(word, count) ivl_model_wake(word)

#endif
