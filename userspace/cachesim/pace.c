// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into QEMU beside the plugin: the pace of its other threads.
 *
 * They look for events at most once in a millisecond. The plugin ends a turn by asking for the virtual clock (end_turn()), and QEMU tells whoever
 * waits for events of that: its main loop, and the thread of the control connection. Both find
 * nothing and take the lock that the vCPUs' thread needs next, with each turn. They have no part
 * in what the guest computes. `fast bench sim` measures what this saves.
 *
 * And none loses its patience with the vCPUs' thread. To free memory, QEMU waits until that thread has
 * left the code that may use it, as it does after each turn. QEMU 11.1 looks some times, 10 ms apart,
 * and then ends the turn under way, wherever that is: a host that lets the thread wait for as long
 * would change what the guest computes. Here a sleep takes until turns have ended.
 */
#include "pace.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PAUSE_NS 1000000
/* Of a sleep, in which no turn ends: the machine is stopped, or the host is. */
#define PATIENCE_NS 1000000000
/* Of which the first may have been over, but for its count, when the sleep began. */
#define ENOUGH_TURNS 2

_Atomic unsigned long pace_turns;

typedef int (*poll_fn)(struct pollfd *, nfds_t, int);
typedef int (*ppoll_fn)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* When this thread last came from looking. */
static _Thread_local uint64_t last;

static void pace(void)
{
	uint64_t passed = now() - last;

	if (passed < PAUSE_NS)
		clock_nanosleep(CLOCK_MONOTONIC, 0,
				&(struct timespec){ .tv_nsec = (long)(PAUSE_NS - passed) }, NULL);
}

/* Who does not wait is not made to. */
__attribute__((visibility("default")))
int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	poll_fn next = (poll_fn)dlsym(RTLD_NEXT, "poll");
	int ready;

	if (timeout)
		pace();
	ready = next(fds, nfds, timeout);
	last = now();
	return ready;
}

__attribute__((visibility("default")))
int ppoll(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout, const sigset_t *mask)
{
	ppoll_fn next = (ppoll_fn)dlsym(RTLD_NEXT, "ppoll");
	int ready;

	if (!timeout || timeout->tv_sec || timeout->tv_nsec)
		pace();
	ready = next(fds, nfds, timeout, mask);
	last = now();
	return ready;
}

__attribute__((visibility("default")))
int nanosleep(const struct timespec *time, struct timespec *left)
{
	unsigned long turns = pace_turns;
	uint64_t begun = now();
	int error;

	do
		error = clock_nanosleep(CLOCK_REALTIME, 0, time, left);
	while (!error && turns && pace_turns - turns < ENOUGH_TURNS && now() - begun < PATIENCE_NS);
	if (!error)
		return 0;
	errno = error;
	return -1;
}
