// SPDX-License-Identifier: LGPL-2.1-or-later
/* Has the environment read, and says by which library; for same.py, which compares the two. */
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

int main(void)
{
	puts(dlsym(RTLD_DEFAULT, "intervals_gomp") ? "intervals" : "GCC");
	return omp_get_max_threads() < 1;
}
