// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OpenACC, and the names of GCC's library for Fortran: not supported. A program that needs one is
 * told so by its name, rather than by the loader that a version is missing.
 */
#include "gomp.h"

#define UNSUPPORTED(name) \
	GOMP_PUBLIC _Noreturn void name(void); \
	GOMP_PUBLIC _Noreturn void name(void) \
	{ \
		gomp_fatal(#name " is not supported: OpenACC is not; run the program without " \
			   "LD_PRELOAD, with GCC's libgomp"); \
	}
#include "unsupported.def"
