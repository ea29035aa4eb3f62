// SPDX-License-Identifier: GPL-2.0
/*
 * A small deterministic program for the comparison with cachegrind: no C
 * library, so that it does the same under every tool. It walks an array that
 * fits the L1D, one that fits the LL and one that does not, in order and at
 * random, reads and writes, and crosses lines on purpose.
 */
#include <stdint.h>

static uint8_t small[8 * 1024];
static uint8_t medium[48 * 1024];
static uint8_t large[192 * 1024];

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 1103515245 + 12345;
	return random_state >> 8;
}

static void walk(volatile uint8_t *array, uint32_t size, uint32_t stride)
{
	for (uint32_t i = 0; i + 8 <= size; i += stride)
		*(volatile uint64_t *)(array + i) += i;
}

static void jump(volatile uint8_t *array, uint32_t size, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		uint32_t at = next_random() % (size - 8);

		if (i % 3)
			(void)*(volatile uint64_t *)(array + at);
		else
			*(volatile uint64_t *)(array + at) = i;
	}
}

void _start(void)
{
	for (int round = 0; round < 3; round++) {
		walk(small, sizeof(small), 8);
		walk(medium, sizeof(medium), 20);
		walk(large, sizeof(large), 60);
		jump(medium, sizeof(medium), 20000);
		jump(large, sizeof(large), 20000);
	}
	__asm__ volatile("syscall" : : "a"(231), "D"(0) : "memory");	/* exit_group(0) */
	__builtin_unreachable();
}
