/* SPDX-License-Identifier: GPL-2.0 */
/* A comment may say LOCK, BARRIER or CREATE, and a string "CLOCK". */
#include <stdio.h>

MAIN_ENV

#include "shared.h"

struct shared *shared;
int P = 1, items = 1, testing;

main(argc, argv)
int argc;
char **argv;
{
	unsigned int begun, ended;
	long i, wanted, *mine, right;
	int c;
	extern char *optarg;

	CLOCK(begun)
	while ((c = getopt(argc, argv, "p:m:n:l:t")) != -1) {
		if (c == 'p')
			P = atoi(optarg);
		if (c == 'm')
			items = 1 << atoi(optarg);
		if (c == 't')
			testing = 1;
	}
	MAIN_INITENV(, 1000000)
	NEWPROC
	shared = (struct shared *) G_MALLOC(sizeof(struct shared));
	mine = (long *) NU_MALLOC(sizeof(long), 0)
	*mine += 1;
	LOCKINIT(shared->idlock)
	ALOCKINIT(shared->shelf_lock, SHELVES)
	BARINIT(shared->start)
	PAUSEINIT(shared->turn[0])
	PAUSEINIT(shared->turn[1])
	GSINIT(shared->items)

	for (i = 1; i < P; i++)
		CREATE(SlaveStart)
	SlaveStart();
	WAIT_FOR_END(P - 1)
	CLOCK(ended)

	printf("Total time without initialization : %16u\n", ended - begun);
	right = *mine == 1 && shared->counter == (long)P * ROUNDS && ended - begun > 0;
	for (i = 0; i < ROUNDS; i++)
		right &= shared->per_round[i] == P * (i + 1);
	for (i = wanted = 0; i < SHELVES; i++)
		wanted += shared->shelf[i];
	right &= wanted == (long)P * ROUNDS;
	/* Twice 0 + 1 + ... */
	right &= shared->total == (long)items * (items - 1);
	right &= shared->passes == ROUNDS;
	if (testing)
		printf("TEST %s\n", right ? "PASSED" : "FAILED");
	G_FREE(mine)
	MAIN_END
}
