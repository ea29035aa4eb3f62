// SPDX-License-Identifier: GPL-2.0
/*
 * What the guest sees of the parallel clock, as one JSON object.
 *
 *	clock_subject region THREADS	a region of interest by the guest's own clock: its threads
 *					compute, miss the caches, fault in pages, enter
 *					the kernel and sleep
 *	clock_subject slices MS		two threads on one CPU, for so long: how often one was
 *					preempted
 *	clock_subject wakeups N		two CPUs' threads wake each other, each N times
 *	clock_subject interrupts N	N interrupts of a busy CPU, each waited for
 *	clock_subject pauses N		N times PAUSE, again and again: the time of the shortest
 *	clock_subject spin N		a CPU spins with PAUSE until another one has computed for N
 *					cycles: how often it has
 *	clock_subject turns N SPINS CPUS	two threads take turns, N in all, on one CPU or on
 *					two, by a lock that spins with PAUSE before it sleeps: the
 *					CPU time of a turn
 *	clock_subject stop		the burner, stopped by an interrupt; then it computes on
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "roi.h"

#define BYTES (8u << 20)
#define LINE 128u

#define LOCAL_APIC 0xfee00000u
#define INTERRUPT_COMMAND (0x300 / 4)
#define INIT_ALL_OTHERS 0xc4500u

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static void *work(void *unused)
{
	char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec nap = { .tv_nsec = 200000 };

	(void)unused;
	if (memory == MAP_FAILED)
		abort();
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < BYTES / 8; i += LINE)
			memory[i]++;
		for (int i = 0; i < 100; i++)
			getppid();
		nanosleep(&nap, NULL);
	}
	munmap(memory, BYTES);
	return NULL;
}

/* The CPUs that sysfs lists in a file, such as "0-3". */
static void cpus_in(const char *file, char *text, int size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", file);
	f = fopen(path, "r");
	if (!f || !fgets(text, size, f))
		abort();
	text[strcspn(text, "\n")] = '\0';
	fclose(f);
}

static void region(int threads)
{
	pthread_t others[64];
	char possible[64], online[64];
	long begin, end;
	cpu_set_t set;

	now_ns();	/* its page faults are no part of the region */
	ROI_MARK(ROI_BEGIN);
	begin = now_ns();
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, work, NULL))
			abort();
	work(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	end = now_ns();
	ROI_MARK(ROI_END);
	cpus_in("possible", possible, sizeof(possible));
	cpus_in("online", online, sizeof(online));
	if (sched_getaffinity(0, sizeof(set), &set))
		abort();
	printf("{\"elapsed_ns\": %ld, \"possible\": \"%s\", \"online\": \"%s\", "
	       "\"configured\": %ld, \"allowed\": %d}\n", end - begin, possible, online,
	       sysconf(_SC_NPROCESSORS_CONF), CPU_COUNT(&set));
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

static long spin_until;

static void *spin(void *unused)
{
	while (now_ns() < spin_until)
		;
	return unused;
}

static void slices(int ms)
{
	struct rusage usage;
	pthread_t other;

	pin(0);
	spin_until = now_ns() + ms * 1000000l;
	ROI_MARK(ROI_BEGIN);
	if (pthread_create(&other, NULL, spin, NULL))
		abort();
	spin(NULL);
	pthread_join(other, NULL);
	ROI_MARK(ROI_END);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"preempted\": %ld}\n", usage.ru_nivcsw);
}

static _Atomic uint32_t turn;
static uint32_t turns;

/* Turn i is that of CPU i % 2, which lets the other sleep for a while before it wakes it. */
static void *take_turns(void *cpu)
{
	pin((intptr_t)cpu);
	for (uint32_t i = (intptr_t)cpu; i < turns; i += 2) {
		uint32_t seen;

		while ((seen = turn) != i)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		spin_until = now_ns() + 30000;
		spin(NULL);
		turn = i + 1;
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void wakeups(int number)
{
	pthread_t other;

	turns = 2 * number;
	ROI_MARK(ROI_BEGIN);
	if (pthread_create(&other, NULL, take_turns, (void *)1))
		abort();
	take_turns(NULL);
	pthread_join(other, NULL);
	ROI_MARK(ROI_END);
	printf("{}\n");
}

static void *count(void *unused)
{
	pin(1);
	turn = 1;
	while (turn == 1)
		;
	return unused;
}

static void interrupts(int number)
{
	pthread_t other;
	long begin;

	pin(0);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) ||
	    pthread_create(&other, NULL, count, NULL))
		abort();
	while (!turn)
		sched_yield();
	ROI_MARK(ROI_BEGIN);
	begin = now_ns();
	for (int i = 0; i < number; i++)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	printf("{\"each_ns\": %ld}\n", (now_ns() - begin) / number);
	ROI_MARK(ROI_END);
	turn = 2;
	pthread_join(other, NULL);
}

/* Spin until the word has the value, `most` times at most: six instructions each, with the PAUSE. */
static long pause_until(_Atomic uint32_t *word, uint32_t value, long most)
{
	long pauses = 0;

	asm volatile("jmp 2f\n"
		     "1:\n"
		     "pause\n"
		     "inc %[pauses]\n"
		     "2:\n"
		     "cmp %[value], %[word]\n"
		     "je 3f\n"
		     "cmp %[most], %[pauses]\n"
		     "jl 1b\n"
		     "3:\n"
		     : [pauses] "+r" (pauses)
		     : [value] "r" (value), [word] "m" (*word), [most] "r" (most)
		     : "cc", "memory");
	return pauses;
}

/* The kernel works meanwhile, but not all the time. */
static void pauses(int number)
{
	long least = LONG_MAX;

	pin(0);
	pause_until(&turn, 1, 1);
	ROI_MARK(ROI_BEGIN);
	for (int i = 0; i < 4; i++) {
		long begin = now_ns(), took;

		pause_until(&turn, 1, number);
		took = now_ns() - begin;
		least = took < least ? took : least;
	}
	ROI_MARK(ROI_END);
	printf("{\"least_ns\": %ld}\n", least);
}

static _Atomic uint32_t begun;
static uint64_t cycles_left;

/* Two instructions for each two cycles, without a PAUSE. */
static void *compute(void *unused)
{
	uint64_t left = cycles_left / 2;

	pin(1);
	turn = 1;
	while (!begun)
		;
	asm volatile("1:\n"
		     "sub $1, %[left]\n"
		     "jnz 1b\n"
		     : [left] "+r" (left)
		     :
		     : "cc");
	turn = 2;
	return unused;
}

static void spin_for(int cycles)
{
	pthread_t other;
	long number;

	pin(0);
	cycles_left = cycles;
	if (pthread_create(&other, NULL, compute, NULL))
		abort();
	while (turn != 1)
		sched_yield();
	ROI_MARK(ROI_BEGIN);
	begun = 1;
	number = pause_until(&turn, 2, cycles);
	ROI_MARK(ROI_END);
	pthread_join(other, NULL);
	printf("{\"pauses\": %ld}\n", number);
}

enum { FREE, HELD, CONTENDED };

static _Atomic uint32_t lock_word, condition;
static long spins, turns_taken, turns_in_all, turns_cpus;

static void wait_for_change(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_one(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void lock(void)
{
	uint32_t seen = FREE;

	if (atomic_compare_exchange_strong(&lock_word, &seen, HELD))
		return;
	for (;;) {
		pause_until(&lock_word, FREE, spins);
		if (!atomic_exchange(&lock_word, CONTENDED))
			return;
		wait_for_change(&lock_word, CONTENDED);
	}
}

static void unlock(void)
{
	if (atomic_exchange(&lock_word, FREE) == CONTENDED)
		wake_one(&lock_word);
}

/* The lock is held while the other thread is woken, so that one finds it held on the same CPU. */
static void *take_locked_turns(void *mine)
{
	pin((intptr_t)mine % turns_cpus);
	lock();
	while (turns_taken < turns_in_all) {
		if (turns_taken % 2 == (intptr_t)mine) {
			turns_taken++;
			condition++;
			wake_one(&condition);
		} else {
			uint32_t seen = condition;

			unlock();
			wait_for_change(&condition, seen);
			lock();
		}
	}
	condition++;
	wake_one(&condition);
	unlock();
	return NULL;
}

static void locked_turns(int number, int most_spins, int cpus)
{
	struct timespec used;
	pthread_t other;

	turns_in_all = number;
	spins = most_spins;
	turns_cpus = cpus;
	ROI_MARK(ROI_BEGIN);
	if (pthread_create(&other, NULL, take_locked_turns, (void *)1))
		abort();
	take_locked_turns(NULL);
	pthread_join(other, NULL);
	ROI_MARK(ROI_END);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("{\"turn_ns\": %ld}\n", (used.tv_sec * 1000000000l + used.tv_nsec) / number);
}

static void stop(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC);
	volatile uint32_t *apic = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				       LOCAL_APIC);

	if (fd < 0 || apic == MAP_FAILED)
		abort();
	apic[INTERRUPT_COMMAND] = INIT_ALL_OTHERS;
	for (;;)
		now_ns();
}

int main(int argc, char **argv)
{
	int number = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 1 && !strcmp(argv[1], "region"))
		region(number);
	else if (argc > 1 && !strcmp(argv[1], "slices"))
		slices(number);
	else if (argc > 1 && !strcmp(argv[1], "wakeups"))
		wakeups(number);
	else if (argc > 1 && !strcmp(argv[1], "interrupts"))
		interrupts(number);
	else if (argc > 1 && !strcmp(argv[1], "pauses"))
		pauses(number);
	else if (argc > 1 && !strcmp(argv[1], "spin"))
		spin_for(number);
	else if (argc > 4 && !strcmp(argv[1], "turns"))
		locked_turns(number, atoi(argv[3]), atoi(argv[4]));
	else if (argc > 1 && !strcmp(argv[1], "stop"))
		stop();
	else
		return 1;
	return 0;
}
