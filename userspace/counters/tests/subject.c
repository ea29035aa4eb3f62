// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose events are known: test_fast_stat.py has it counted.
 *
 *	subject threads N PAGES SLEEPS	N threads, which each touch PAGES new pages, sleep
 *					SLEEPS times and end; the process itself does neither
 *	subject child PAGES		a process that this one starts touches PAGES
 *	subject regions N PAGES OTHER	N regions of interest with PAGES each, and OTHER
 *					pages before, between and behind them
 *	subject half, nested, stray	markers that make no region
 *	subject say TEXT		sends TEXT to fast-stat and waits
 *	subject wait			until a signal ends it
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roi.h"

static unsigned long pages, sleeps;

static void touch(unsigned long count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	/* One fault for each page, not for 512 of them. */
	madvise((void *)memory, count * page, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < count; i++)
		memory[i * page] = 1;
	munmap((void *)memory, count * page);
}

static void *work(void *unused)
{
	touch(pages);
	for (unsigned long i = 0; i < sleeps; i++)
		usleep(1);
	return unused;
}

static void threads(unsigned long count)
{
	pthread_t thread;

	/* One after the other: all but the last have vanished long before the end. */
	for (unsigned long i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, work, NULL))
			abort();
		pthread_join(thread, NULL);
	}
}

static void child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid == 0) {
		touch(pages);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void regions(unsigned long count, unsigned long other)
{
	roi_warmup();
	touch(other);
	for (unsigned long i = 0; i < count; i++) {
		roi_begin();
		touch(pages);
		roi_end();
		touch(other);
	}
}

static void say(const char *text)
{
	roi_warmup();
	if (write(roi_perf.ctl, text, strlen(text)) < 0)
		abort();
	pause();
}

static unsigned long number(char **argv, int i)
{
	return strtoul(argv[i], NULL, 10);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "threads") && argc == 5) {
		pages = number(argv, 3);
		sleeps = number(argv, 4);
		threads(number(argv, 2));
	} else if (!strcmp(what, "child") && argc == 3) {
		pages = number(argv, 2);
		child();
	} else if (!strcmp(what, "regions") && argc == 5) {
		pages = number(argv, 3);
		regions(number(argv, 2), number(argv, 4));
	} else if (!strcmp(what, "half")) {
		roi_warmup();
		roi_begin();
	} else if (!strcmp(what, "nested")) {
		roi_warmup();
		roi_begin();
		roi_begin();
	} else if (!strcmp(what, "stray")) {
		roi_warmup();
		roi_end();
	} else if (!strcmp(what, "say") && argc == 3) {
		say(argv[2]);
	} else if (!strcmp(what, "wait")) {
		puts("waiting");
		fflush(stdout);
		pause();
	} else {
		return 2;
	}
	return 0;
}
