// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OpenACC for C and Fortran is not supported: a program that calls such a function ends with a
 * message that names it. Otherwise the loader would only miss a version.
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
