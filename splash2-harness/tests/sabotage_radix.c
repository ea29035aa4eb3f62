// SPDX-License-Identifier: GPL-2.0
#include "../radix.c"
#include "sabotage.h"

/* The first key that differs from the one before. */
static uint32_t *step(void)
{
	uint32_t *key = keys[passes % 2] + 1;

	while (*key == key[-1])
		key++;
	return key;
}

SABOTAGE(swapped)
{
	uint32_t *key = step(), saved = *key;

	*key = key[-1];
	key[-1] = saved;
}

/* A key was written over another: they are in order, and the wrong ones. */
SABOTAGE(doubled)
{
	uint32_t *key = step();

	*key = key[-1];
}
