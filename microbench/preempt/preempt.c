// SPDX-License-Identifier: GPL-2.0
/*
 * More threads than CPUs, and a lock whose holder may be preempted: one counter under one lock, as
 * in single_ctr. The lock spins with back-off, as PostgreSQL's s_lock() does, or is a mutex of
 * three states. With FAULTS each section touches a page for the first time, as a section does that
 * works on new memory in small pages. Each form is a program of its own (meson.build).
 *
 * The variable PREEMPT_SLICE says what a time slice extension covers: "section", or with "wake" the
 * unlock's system call, too. Default: no extension.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/bench.h"
#include "../common/layout.h"
#include "../common/list.h"
#include "../common/think.h"
#include "slice.h"

#define SLICE "PREEMPT_SLICE"

static enum { NOTHING, SECTION, SECTION_AND_WAKE } slice;

/*
 * PostgreSQL's figures (src/backend/storage/lmgr/s_lock.c): a waiter spins 10 to 1,000 times before
 * it sleeps, first for 1 ms, then each time for up to twice as long. A wait without a sleep lets it
 * spin 100 times more next time, a wait with a sleep once less.
 */
#define MIN_SPINS 10
#define MAX_SPINS 1000
#define FIRST_SPINS 100
#define MIN_DELAY_NS 1000000
#define MAX_DELAY_NS 1000000000
#define NS_PER_S 1000000000

#define PAGE 4096
#define EXIT_USAGE 2

enum { FREE, HELD, CONTENDED };

static struct padded lock;
static struct padded counter;
static char *pages;
static uint64_t touched;	/* under the lock */
static __thread unsigned int spins_before_delay = FIRST_SPINS;

static void pause_cpu(void)
{
	__builtin_ia32_pause();
}

static bool take(atomic_uint *word)
{
	return !atomic_load_explicit(word, memory_order_relaxed) &&
	       !atomic_exchange_explicit(word, HELD, memory_order_acquire);
}

static void delay(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void learn(bool slept)
{
	if (slept)
		spins_before_delay -= spins_before_delay > MIN_SPINS;
	else
		spins_before_delay += spins_before_delay + 100 <= MAX_SPINS ? 100 :
				      MAX_SPINS - spins_before_delay;
}

static void spin_lock(struct worker *w, atomic_uint *word)
{
	uint64_t ns = 0;

	if (take(word))
		return;
	for (unsigned int spins = 1; !take(word); spins++) {
		pause_cpu();
		if (spins % spins_before_delay)
			continue;
		ns = ns ? ns + ns / 100 * (w->random % 100) : MIN_DELAY_NS;
		if (ns > MAX_DELAY_NS)
			ns = MIN_DELAY_NS;
		delay(ns);
	}
	learn(ns);
}

static void mutex_lock(atomic_uint *word)
{
	unsigned int seen = FREE;

	if (atomic_compare_exchange_strong(word, &seen, HELD))
		return;
	while (atomic_exchange(word, CONTENDED))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, CONTENDED, NULL);
}

/* The extension ends before or after the system call that wakes a waiter. */
static void mutex_unlock(atomic_uint *word)
{
	const bool contended = atomic_exchange(word, FREE) == CONTENDED;

	if (slice == SECTION)
		slice_end();
	if (contended)
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1);
	if (slice == SECTION_AND_WAKE)
		slice_end();
}

static void setup(const struct options *opt)
{
	const size_t bytes = (size_t)(opt->warmup + opt->iterations) * PAGE;

	lock = padded_alloc(1, sizeof(atomic_uint), opt->line);
	counter = padded_alloc(1, (size_t)opt->cs_lines * opt->line, opt->line);
	if (!FAULTS)
		return;
	pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/* EINVAL: this kernel has small pages only. */
	if (pages == MAP_FAILED || (madvise(pages, bytes, MADV_NOHUGEPAGE) && errno != EINVAL)) {
		perror("memory that is touched once");
		exit(EXIT_FAILURE);
	}
}

static void iterate(struct worker *w)
{
	atomic_uint *word = padded_at(&lock, 0);

	if (SPINS)
		spin_lock(w, word);
	else
		mutex_lock(word);
	if (slice != NOTHING)
		slice_begin();
	if (FAULTS)
		pages[touched++ * PAGE] = 1;
	counter_increment(padded_at(&counter, 0), w->opt->cs_lines, w->opt->line);
	if (SPINS) {
		atomic_store_explicit(word, FREE, memory_order_release);
		if (slice != NOTHING)
			slice_end();
	} else {
		mutex_unlock(word);
	}
	think(w);
}

static void check(const struct options *opt, struct verdict *verdict)
{
	const uint64_t expected = opt->warmup + opt->iterations;
	const unsigned int bad = counter_mismatch(padded_at(&counter, 0), opt->cs_lines, opt->line,
						  expected);

	if (bad < opt->cs_lines)
		verdict_fail(verdict, "line %u of the counter is %" PRIu64 ", not %" PRIu64, bad,
			     counter_value(padded_at(&counter, 0), bad, opt->line), expected);
}

static const struct bench benchmark = {
	.name = NAME,
	.fixed_locks = 1,
	.setup = setup,
	.iterate = iterate,
	.check = check,
};

/* In the place of common/list.c, which knows the paper's seven and no other. */
const char *list_description(const char *name)
{
	(void)name;
	return SPINS ? "one counter under a spinlock with back-off, whose holder may be preempted" :
		       "one counter under a mutex, whose holder may be preempted";
}

void list_print(void)
{
	printf("%s %s\n", NAME, list_description(NAME));
}

int main(int argc, char **argv)
{
	const char *covers = getenv(SLICE);

	if (covers && strcmp(covers, "section") && strcmp(covers, "wake")) {
		fprintf(stderr, "%s: %s=%s: must be section or wake\n", NAME, SLICE, covers);
		return EXIT_USAGE;
	}
	if (covers) {
		slice = strcmp(covers, "wake") ? SECTION : SECTION_AND_WAKE;
		slice_setup(argv);
	}
	return bench_main(&benchmark, argc, argv);
}
