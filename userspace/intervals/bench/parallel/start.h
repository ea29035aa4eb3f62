/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each of the C and C++ runtimes includes first. */
#ifndef BENCH_START_H
#define BENCH_START_H

#include <alloca.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "kernels/kernels.h"
#include "theses/theses.h"

#define PAR_ASYNC_BYTES 16
#define PAR_ANYWHERE LOCALITY_NONE

typedef void par_function(void *arg);
/* As par_for(). */
typedef void par_loop(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		      void *arg);

#endif
