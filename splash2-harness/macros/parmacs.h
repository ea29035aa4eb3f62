/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the macros of parmacs.m4 call: PARMACS on pthreads.
 *
 * Every source of a tree is compiled with `-include parmacs.h`, for its headers
 * declare locks and barriers before the first macro that could include anything. All
 * is inline, with one weak object, so nothing has to be linked; all is C89 with GNU's
 * extensions, as the original programs are.
 *
 * The region of interest (roi.h) is from the first CREATE to WAIT_FOR_END: the other
 * threads do not exist at either end. An original program with one thread creates
 * none; its region begins at its first barrier.
 */
#ifndef PARMACS_H
#define PARMACS_H

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "roi.h"

/* roi.h brings stdbool.h; the programs have a bool of their own. */
#undef bool
#undef true
#undef false

/* Splash-3's LU takes it from its macro file; other programs define the same. */
#ifndef PAGE_SIZE
#define PAGE_SIZE 4096
#endif

struct parmacs {
	pthread_t *threads;		/* created and not yet waited for */
	unsigned long created, room;
	unsigned long clock_base;	/* us, 0: CLOCK was never called */
	unsigned long begin_ns;		/* 0: the region of interest has not begun */
	int ended;			/* it never begins again */
	FILE *report;
};

__attribute__((weak)) struct parmacs parmacs;

struct parmacs_barrier {
	pthread_mutex_t mutex;
	pthread_cond_t passed;
	unsigned long generation, waiting;
};

struct parmacs_pause {
	pthread_mutex_t mutex;
	pthread_cond_t set_now;
	int set;
};

/* GETSUB: hands out 0 .. max; a thread that gets none waits until no thread gets one. */
struct parmacs_subscripts {
	pthread_mutex_t mutex;
	long next;
	struct parmacs_barrier end;
};

static inline void parmacs_die(const char *what)
{
	fprintf(stderr, "parmacs: %s\n", what);
	exit(2);
}

static inline unsigned long parmacs_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

/*
 * CLOCK: microseconds since its first call. The original programs keep it in an int,
 * which holds half an hour.
 */
static inline unsigned long parmacs_clock(void)
{
	unsigned long now = parmacs_ns() / 1000, none = 0;

	__atomic_compare_exchange_n(&parmacs.clock_base, &none, now, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return now - __atomic_load_n(&parmacs.clock_base, __ATOMIC_RELAXED);
}

/*
 * Facts for the driver, a line each, in the file that FAST_SPLASH_REPORT names. By one
 * thread, when there is no other.
 */
__attribute__((format(printf, 1, 2)))
static inline void parmacs_report(const char *format, ...)
{
	const char *path = getenv("FAST_SPLASH_REPORT");
	va_list arguments;

	if (!path)
		return;
	if (!parmacs.report)
		parmacs.report = fopen(path, "w");
	if (!parmacs.report)
		parmacs_die("the file that FAST_SPLASH_REPORT names cannot be written");
	va_start(arguments, format);
	vfprintf(parmacs.report, format, arguments);
	va_end(arguments);
}

/* The first call counts, by the thread that creates all threads; later calls do nothing. */
static inline void parmacs_begin(void)
{
	if (parmacs.begin_ns || parmacs.ended)
		return;
	roi_warmup();
	roi_begin();
	parmacs.begin_ns = parmacs_ns();
}

/* CREATE(function), once for each thread beside the caller. */
static inline void *parmacs_thread(void *function)
{
	((void (*)(void))function)();
	return NULL;
}

static inline void parmacs_create(void (*function)(void))
{
	pthread_t *threads = parmacs.threads;

	if (parmacs.created == parmacs.room) {
		parmacs.room = parmacs.room ? 2 * parmacs.room : 64;
		threads = (pthread_t *)realloc(threads, parmacs.room * sizeof(*threads));
		if (!threads)
			parmacs_die("no memory for another thread");
		parmacs.threads = threads;
	}
	parmacs_begin();
	if (pthread_create(&threads[parmacs.created], NULL, parmacs_thread, (void *)function))
		parmacs_die("the system allows no further thread (see ulimit -u)");
	parmacs.created++;
}

/* Splash-3's CREATE(function, threads): the caller is the last of them. */
static inline void parmacs_create_all(void (*function)(void), long threads)
{
	long i;

	parmacs_begin();
	for (i = 1; i < threads; i++)
		parmacs_create(function);
	function();
}

/* Whatever number WAIT_FOR_END is given: all that were created. */
static inline void parmacs_wait_for_end(void)
{
	unsigned long i, threads = parmacs.created + 1, ns;

	for (i = 0; i < parmacs.created; i++)
		pthread_join(parmacs.threads[i], NULL);
	parmacs.created = 0;
	if (!parmacs.begin_ns)
		return;
	ns = parmacs_ns() - parmacs.begin_ns;
	roi_end();
	parmacs_report("threads %lu\nparallel_ns %lu\n", threads, ns);
	parmacs.begin_ns = 0;
	parmacs.ended = 1;
}

static inline void parmacs_lock_array_init(pthread_mutex_t *locks, long count)
{
	long i;

	for (i = 0; i < count; i++)
		pthread_mutex_init(&locks[i], NULL);
}

static inline void parmacs_barrier_init(struct parmacs_barrier *barrier)
{
	pthread_mutex_init(&barrier->mutex, NULL);
	pthread_cond_init(&barrier->passed, NULL);
	barrier->generation = barrier->waiting = 0;
}

/*
 * Waiting threads compare the generation, so neither a spurious wake-up nor a thread
 * that has reached the next barrier releases them early. The number of threads is an
 * argument here: the original BARINIT does not get it.
 */
static inline void parmacs_barrier(struct parmacs_barrier *barrier, long threads)
{
	unsigned long generation;

	parmacs_begin();
	pthread_mutex_lock(&barrier->mutex);
	generation = barrier->generation;
	if (++barrier->waiting >= (unsigned long)threads) {
		barrier->waiting = 0;
		barrier->generation++;
		pthread_cond_broadcast(&barrier->passed);
	} else {
		while (barrier->generation == generation)
			pthread_cond_wait(&barrier->passed, &barrier->mutex);
	}
	pthread_mutex_unlock(&barrier->mutex);
}

static inline void parmacs_pause_init(struct parmacs_pause *pause)
{
	pthread_mutex_init(&pause->mutex, NULL);
	pthread_cond_init(&pause->set_now, NULL);
	pause->set = 0;
}

static inline void parmacs_pause_put(struct parmacs_pause *pause, int set)
{
	pthread_mutex_lock(&pause->mutex);
	pause->set = set;
	if (set)
		pthread_cond_broadcast(&pause->set_now);
	pthread_mutex_unlock(&pause->mutex);
}

static inline void parmacs_pause_wait(struct parmacs_pause *pause)
{
	pthread_mutex_lock(&pause->mutex);
	while (!pause->set)
		pthread_cond_wait(&pause->set_now, &pause->mutex);
	pthread_mutex_unlock(&pause->mutex);
}

static inline void parmacs_subscripts_init(struct parmacs_subscripts *subscripts)
{
	pthread_mutex_init(&subscripts->mutex, NULL);
	subscripts->next = 0;
	parmacs_barrier_init(&subscripts->end);
}

static inline long parmacs_subscript(struct parmacs_subscripts *subscripts, long max,
				     long threads)
{
	long subscript = -1;

	pthread_mutex_lock(&subscripts->mutex);
	if (subscripts->next <= max)
		subscript = subscripts->next++;
	pthread_mutex_unlock(&subscripts->mutex);
	if (subscript >= 0)
		return subscript;

	/* No thread takes a subscript between the two barriers: restart for all. */
	parmacs_barrier(&subscripts->end, threads);
	pthread_mutex_lock(&subscripts->mutex);
	subscripts->next = 0;
	pthread_mutex_unlock(&subscripts->mutex);
	parmacs_barrier(&subscripts->end, threads);
	return -1;
}

/* Zeroed, as the shared memory of the first systems was. */
static inline void *parmacs_malloc(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory && bytes)
		parmacs_die("G_MALLOC: no memory left; choose a smaller size");
	return memory;
}

#endif
