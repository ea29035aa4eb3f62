// SPDX-License-Identifier: LGPL-2.1-or-later
/* The least that has the environment read; not a test of ours alone, so without check.h. */
#include <omp.h>

int main(void)
{
	return omp_get_max_threads() < 1;
}
