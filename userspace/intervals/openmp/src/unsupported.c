// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OpenACC, in C and in Fortran: not supported. A program that calls one of these functions ends with
 * a message that names it. Without them the loader would only say that a version is missing.
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
