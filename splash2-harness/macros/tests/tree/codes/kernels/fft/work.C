/* SPDX-License-Identifier: GPL-2.0 */
EXTERN_ENV

#include "shared.h"

void SlaveStart()
{
	int me, round, repeat;
	long item, sum = 0;

	LOCK(shared->idlock)
		me = shared->id++;
	UNLOCK(shared->idlock)

	/* Between two barriers everybody sees the round's whole count. */
	for (round = 0; round < ROUNDS; round++) {
		LOCK(shared->idlock)
			shared->counter++;
		UNLOCK(shared->idlock)
		ALOCK(shared->shelf_lock, (me + round) % SHELVES)
			shared->shelf[(me + round) % SHELVES]++;
		AULOCK(shared->shelf_lock, (me + round) % SHELVES)
		BARRIER(shared->start, P)
		if (me == 0)
			shared->per_round[round] = shared->counter;
		BARRIER(shared->start, P)
	}

	/* Each subscript once, in two loops over the same items. */
	for (repeat = 0; repeat < 2; repeat++) {
		GETSUB(shared->items, item, items - 1, P)
		while (item >= 0) {
			sum += item;
			GETSUB(shared->items, item, items - 1, P)
		}
	}
	LOCK(shared->idlock)
		shared->total += sum;
	UNLOCK(shared->idlock)

	/* The first two take turns. */
	for (round = 0; round < ROUNDS && me < 2; round++) {
		if (me == 0) {
			SETPAUSE(shared->turn[0])
			if (P > 1) {
				WAITPAUSE(shared->turn[1])
				CLEARPAUSE(shared->turn[1])
			} else
				shared->passes++;
		} else {
			WAITPAUSE(shared->turn[0])
			CLEARPAUSE(shared->turn[0])
			shared->passes++;
			SETPAUSE(shared->turn[1])
		}
	}
}
