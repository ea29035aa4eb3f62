/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a program's futex calls to what its threads wait for: for each word of memory that a thread
 * waits for, how often, how long, which threads wake the waiters, and where these continue.
 *
 * Where a probe (a function of a runtime that a thread calls before it waits for a lock) has told
 * the lock's address, the lock stands in the place of the word.
 *
 * Events come in their order, in stretches. Times are in ns, threads are named by their ids. Not
 * thread-safe.
 */
#ifndef FAST_LOOK_WAITS_H
#define FAST_LOOK_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the waits for a word had in common, or not. */
enum waits_form {
	WAITS_PLAIN = 1,	/* FUTEX_WAIT */
	WAITS_BITSET = 2,	/* FUTEX_WAIT_BITSET */
	WAITS_REALTIME = 4,	/* with FUTEX_CLOCK_REALTIME */
	WAITS_PI = 8,		/* FUTEX_LOCK_PI and its like */
	WAITS_SHARED = 16,	/* between processes: not FUTEX_PRIVATE_FLAG */
};

/* What one thread did with a word. */
struct waits_part {
	struct waits_part *next;	/* of the same word */
	struct waits_word *word;
	pid_t tid;
	uint64_t waits, wakes, wait_ns;
};

struct waits_word {
	struct waits_word *next;
	pid_t process;
	uint64_t address;
	int probe;		/* the address is that of a lock, by this probe; -1: of the word */
	uint64_t found_taken;	/* threads that the probe saw */
	unsigned int forms;	/* of enum waits_form */
	uint64_t waits;
	uint64_t wakes;		/* calls that woke at least one */
	uint64_t ones;		/* of these, FUTEX_WAKE of one: what FAST looks at */
	uint64_t woken;		/* threads */
	uint64_t taken;		/* of these, back from their wait within the recording */
	uint64_t remote;	/* of these, on another CPU than the waker */
	uint64_t moved;		/* of these, on another CPU than where they began to wait */
	uint64_t in_vain;	/* of these, waited for the word again at once */
	uint64_t handoff_ns;	/* of `taken`, from the begin of the waker's call */
	uint32_t first, last;	/* the values that waiters expected */
	uint64_t changes;	/* the value was not that of the wait before */
	uint64_t falls;		/* it was less */
	struct waits_part *parts;
};

struct waits {
	struct waits_thread *threads;	/* by their ids */
	pid_t *known;			/* all ids that have occurred */
	unsigned int count, room;
	struct waits_word *words;
	void *by_address, *by_thread;	/* tsearch(3): words, parts */
	uint64_t begun, recorded_ns;
	bool out_of_memory;
};

/* -1: no memory. */
int waits_open(struct waits *w);
void waits_close(struct waits *w);

/* A stretch of the recording. Waits go on from one to the next. */
void waits_begin(struct waits *w, uint64_t ns);
void waits_end(struct waits *w, uint64_t ns);

/* A thread is there from now on, or from the begin of the stretch (`ns` 0); and ends. */
void waits_thread(struct waits *w, pid_t tid, pid_t process, uint64_t ns);
void waits_exit(struct waits *w, pid_t tid, uint64_t ns);

/* The process of a thread; 0: not known. */
pid_t waits_process(const struct waits *w, pid_t tid);

/* The recorded time of a thread's life. */
uint64_t waits_lived_ns(const struct waits *w, pid_t tid);

/* A futex call, and its return. */
struct waits_call {
	uint64_t address;
	uint32_t operation, value;
};

void waits_enter(struct waits *w, pid_t tid, int cpu, uint64_t ns, const struct waits_call *call);
void waits_leave(struct waits *w, pid_t tid, int cpu, uint64_t ns, int64_t result);

/* The kernel wakes a thread while `by` runs. */
void waits_waking(struct waits *w, pid_t by, pid_t tid);

/*
 * A thread is about to take a lock that is not free. `once`: it may go on to other work, so only
 * its first wait is for the lock.
 */
void waits_probe(struct waits *w, pid_t tid, int probe, uint64_t lock, bool once);

#endif
