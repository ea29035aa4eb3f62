/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Region-of-interest (ROI) markers.
 *
 * A program calls roi_warmup(), roi_begin() and roi_end() once each, in this
 * order and from one thread, while its other threads stand still.
 *
 * Two listeners understand them:
 *
 * - The cache model (userspace/cachesim) recognises an 8-byte no-op,
 *   "0f 1f 84 00 imm32" with imm32 = 0x46410000 | id, when QEMU translates it.
 *   On a real x86-64 it does nothing; other architectures have no such marker.
 *
 * - perf stat, where hardware counters exist. It starts with its counters off
 *   (-D -1) and is told through two pipes when to count. fast-stat --roi
 *   (userspace/counters) makes the pipes itself; with perf it is:
 *
 *	mkfifo ctl ack
 *	exec 8<>ctl 9<>ack
 *	FAST_PERF_CTL=8,9 perf stat -D -1 --control fd:8,9 \
 *		-e cycles,instructions,cache-misses -- ./single_ctr --threads 4
 *
 *   FAST_PERF_CTL names the two descriptors that the program inherits.
 *
 * With neither listener a marker costs the no-op and one untaken branch.
 */
#ifndef FAST_ROI_H
#define FAST_ROI_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum roi_mark {
	ROI_WARMUP = 1,	/* what follows is to be warmed up, not counted */
	ROI_BEGIN = 2,	/* counting begins */
	ROI_END = 3,	/* counting ends, the counts are written */
	ROI_CLOCK = 4,	/* the simulated machine's init: its clock and its model begin */
};

#if defined(__x86_64__)
#define ROI_MARK(id) \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0" \
			 : : "i"(0x46410000 | (id)) : "memory")
#else
#define ROI_MARK(id) __asm__ volatile("" : : "i"(id) : "memory")
#endif

struct roi_perf {
	bool listening;
	int ctl;
	int ack;
};

/* Weak: one object per program, however many of its files include this. */
__attribute__((weak)) struct roi_perf roi_perf;

static inline void roi_die(const char *what)
{
	fprintf(stderr, "FAST_PERF_CTL=%s: %s\n"
		"It wants the two descriptors given to perf stat --control fd:CTL,ACK, as CTL,ACK\n",
		getenv("FAST_PERF_CTL"), what);
	exit(2);
}

/* Send one command ("enable\n", "disable\n") to perf and wait until it has obeyed. */
static inline void roi_perf_command(const char *command)
{
	const char *expected = "ack\n";
	size_t length = strlen(command);
	char c;

	if (write(roi_perf.ctl, command, length) != (ssize_t)length)
		roi_die("cannot write the command to perf");
	while (*expected) {
		ssize_t n = read(roi_perf.ack, &c, 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1)
			roi_die("perf closed the pipe before its ack");
		if (c == '\0')	/* perf sends the string's terminator along */
			continue;
		if (c != *expected++)
			roi_die("perf answered something else than ack");
	}
}

/* The caches warm up from here. Also finds out, once, whether perf listens. */
static inline void roi_warmup(void)
{
	const char *fds = getenv("FAST_PERF_CTL");
	int end = 0;

	if (fds) {
		if (sscanf(fds, "%d,%d%n", &roi_perf.ctl, &roi_perf.ack, &end) != 2 || fds[end] ||
		    roi_perf.ctl < 0 || roi_perf.ack < 0)
			roi_die("not two descriptors");
		roi_perf.listening = true;
	}
	ROI_MARK(ROI_WARMUP);
}

/* What happens from here is counted. */
static inline void roi_begin(void)
{
	if (roi_perf.listening)
		roi_perf_command("enable\n");
	ROI_MARK(ROI_BEGIN);
}

/* Nothing after this is counted. */
static inline void roi_end(void)
{
	ROI_MARK(ROI_END);
	if (roi_perf.listening)
		roi_perf_command("disable\n");
}

#endif
