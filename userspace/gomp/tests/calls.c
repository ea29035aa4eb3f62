// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls what it is told to by name; for rejects.py. */
#include "check.h"

int main(int count, char **words)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum++;
	CHECK(sum == 2 || omp_get_thread_limit() < 2);
	for (int i = 1; i < count; i++) {
		void (*function)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, words[i]);

		CHECK(function);
		function();
	}
	return 0;
}
