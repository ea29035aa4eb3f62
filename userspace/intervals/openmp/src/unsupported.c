// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OpenACC for C and Fortran is not supported: a program that calls such a function ends with a
 * message that names it. Otherwise the loader would only miss a version.
 */
#include "gomp.h"

#define ACC(name) \
	GOMP_PUBLIC _Noreturn void name(void); \
	GOMP_PUBLIC _Noreturn void name(void) \
	{ \
		gomp_fatal(#name " is not supported: OpenACC is not; run the program without " \
			   "LD_PRELOAD, with GCC's libgomp"); \
	}
#define ACC_FORTRAN(name) ACC(name) ACC(name##_h_)
#define SIZES(name) ACC(name##_32_h_) ACC(name##_64_h_) ACC(name##_array_h_)
#define ACC_SIZES(name) ACC(name) SIZES(name)
#include "names.def"
