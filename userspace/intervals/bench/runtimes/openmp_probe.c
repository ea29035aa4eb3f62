// SPDX-License-Identifier: LGPL-2.1-or-later
/* Has this compiler an OpenMP runtime? Only linking shows it. */
#include <omp.h>

int main(void)
{
	return omp_get_max_threads() < 1;
}
