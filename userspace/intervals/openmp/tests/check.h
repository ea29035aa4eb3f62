/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every test program has: it fails where another library runs it than ours. */
#ifndef GOMP_CHECK_H
#define GOMP_CHECK_H

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(EXIT_FAILURE); \
		} \
	} while (0)

__attribute__((constructor)) static void is_ours(void)
{
	const char *(*name)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "intervals_gomp");

	CHECK(name && !strcmp(name(), "libintervals-gomp"));
	CHECK(!dlopen("libgomp.so.1", RTLD_NOLOAD | RTLD_NOW) ||
	      dlsym(dlopen("libgomp.so.1", RTLD_NOLOAD | RTLD_NOW), "intervals_gomp"));
}

#endif
