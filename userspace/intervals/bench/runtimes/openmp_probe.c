// SPDX-License-Identifier: LGPL-2.1-or-later
/* Is there an OpenMP runtime for this compiler? Only a link tells. */
#include <omp.h>

int main(void)
{
	return omp_get_max_threads() < 1;
}
