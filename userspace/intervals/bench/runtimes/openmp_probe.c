// SPDX-License-Identifier: GPL-2.0
/* Is there an OpenMP runtime for this compiler? Only a link tells. */
#include <omp.h>

int main(void)
{
	return omp_get_max_threads() < 1;
}
