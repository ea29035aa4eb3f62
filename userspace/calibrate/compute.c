// SPDX-License-Identifier: GPL-2.0
/* The frequency of the CPU, and the time of instructions without memory accesses. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calibrate.h"

#define ADDITIONS 64
#define ADDITION_ROUNDS 10000
#define THINK_STEPS 50000
#define THINK_INSTRUCTIONS 11
#define WAITS 500
#define PAUSES 1000

/*
 * A cycle. Registers on both sides: with a constant on one, current cores compute several
 * additions at once. The loop's own instructions run beside the chain.
 */
static double addition_ns(void)
{
	uint64_t begun = now_ns(), rounds = ADDITION_ROUNDS, x = 1;

	asm volatile("1:\n"
		     ".rept %c[additions]\n"
		     "add %[x], %[x]\n"
		     ".endr\n"
		     "dec %[rounds]\n"
		     "jnz 1b\n"
		     : [x] "+r" (x), [rounds] "+r" (rounds)
		     : [additions] "i" (ADDITIONS)
		     : "cc");
	return (double)(now_ns() - begun) / ADDITIONS / ADDITION_ROUNDS;
}

double measure_frequency(void)
{
	double ns[BATCHES];

	for (unsigned int i = 0; i < BATCHES; i++)
		ns[i] = addition_ns();
	return 1e3 / least(ns);
}

/* Per instruction of the loop as a compiler translates it; they are counted here. */
static double think_ns(void)
{
	uint64_t begun = now_ns(), steps = THINK_STEPS, x = 88172645463325252, y;

	asm volatile("1:\n"
		     "mov %[x], %[y]\n"
		     "shl $13, %[y]\n"
		     "xor %[y], %[x]\n"
		     "mov %[x], %[y]\n"
		     "shr $7, %[y]\n"
		     "xor %[y], %[x]\n"
		     "mov %[x], %[y]\n"
		     "shl $17, %[y]\n"
		     "xor %[y], %[x]\n"
		     "sub $1, %[steps]\n"
		     "jnz 1b\n"
		     : [x] "+r" (x), [y] "=&r" (y), [steps] "+r" (steps)
		     :
		     : "cc");
	return (double)(now_ns() - begun) / THINK_STEPS / THINK_INSTRUCTIONS;
}

double measure_cpi(double mhz)
{
	double ns[BATCHES];

	for (unsigned int i = 0; i < BATCHES; i++)
		ns[i] = think_ns();
	return least(ns) * mhz / 1e3;
}

double measure_refused_wait(void)
{
	uint32_t word = 1;
	double ns[BATCHES];

	for (unsigned int i = 0; i < BATCHES; i++) {
		uint64_t begun = now_ns();

		for (unsigned int call = 0; call < WAITS; call++)
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		ns[i] = (double)(now_ns() - begun) / WAITS;
	}
	return least(ns);
}

double measure_pause(void)
{
	double ns[BATCHES];

	for (unsigned int i = 0; i < BATCHES; i++) {
		uint64_t begun = now_ns();

		for (unsigned int pause = 0; pause < PAUSES; pause++)
			__builtin_ia32_pause();
		ns[i] = (double)(now_ns() - begun) / PAUSES;
	}
	return least(ns);
}
