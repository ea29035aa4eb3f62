// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into QEMU with the plugin: the pace of its other threads.
 *
 * They look for events at most once in a millisecond. The plugin ends a turn by asking for the
 * virtual clock (guest_time_end_turn()), and QEMU then wakes its main loop and the thread of the
 * control connection. At each turn both find no event, and take the lock that the vCPUs' thread
 * needs next. They have no part in what the guest computes. `fast bench sim` measures what this
 * saves.
 *
 * And a sleep lasts until turns have ended. To free memory, QEMU waits until the vCPUs' thread
 * has left the code that may use it, as it does after each turn. QEMU 11.1 looks several times,
 * 10 ms apart, and then ends the turn, wherever it is: a busy host, on which the vCPUs' thread
 * waits that long, would change what the guest computes.
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
/* A sleep without an ended turn lasts this long: the machine or the host is stopped. */
#define PATIENCE_NS 1000000000
/* When the sleep began, the first of them may have ended, but for its count. */
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

/* When this thread last looked for events. */
static _Thread_local uint64_t last;

static void pace(void)
{
	uint64_t passed = now() - last;

	if (passed < PAUSE_NS)
		clock_nanosleep(CLOCK_MONOTONIC, 0,
				&(struct timespec){ .tv_nsec = (long)(PAUSE_NS - passed) }, NULL);
}

/* A call that does not wait returns at once. */
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
