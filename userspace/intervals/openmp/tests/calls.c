// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls functions by name and prints their results; for rejects.py. */
#include "check.h"

int main(int count, char **words)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum++;
	CHECK(sum == 2 || omp_get_thread_limit() < 2);
	for (int i = 1; i < count; i++) {
		int (*function)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, words[i]);

		CHECK(function);
		printf("%s = %d\n", words[i], function());
	}
	return 0;
}
