// SPDX-License-Identifier: GPL-2.0
/* Its first thread ends before the other, which ends the program with status 5. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *second(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	usleep(10000);
	exit(5);
}

int main(void)
{
	static pthread_t first;
	pthread_t thread;

	first = pthread_self();
	if (pthread_create(&thread, NULL, second, &first))
		return 1;
	pthread_exit(NULL);
}
