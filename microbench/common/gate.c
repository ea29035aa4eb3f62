// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gate.h"

static void wait_while(atomic_uint *word, unsigned int value)
{
	/* EAGAIN (the word has changed) and EINTR are for the callers' loops. */
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_all(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void gate_pass(struct gate *gate)
{
	unsigned int turn = atomic_load(&gate->opened);

	if (atomic_fetch_add(&gate->arrived, 1) + 1 == gate->workers)
		wake_all(&gate->arrived);
	while (atomic_load(&gate->opened) == turn)
		wait_while(&gate->opened, turn);
}

void gate_await(struct gate *gate)
{
	unsigned int arrived;

	while ((arrived = atomic_load(&gate->arrived)) != gate->workers)
		wait_while(&gate->arrived, arrived);
}

void gate_open(struct gate *gate)
{
	/* Before the opening: a worker may be back before the wake-up returns. */
	atomic_store(&gate->arrived, 0);
	atomic_fetch_add(&gate->opened, 1);
	wake_all(&gate->opened);
}
