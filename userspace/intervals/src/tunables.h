/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers that somebody chose, by measurement or so that something has room; a program's
 * own choices are in struct ivl_config. The models have less of some.
 */
#ifndef IVL_TUNABLES_H
#define IVL_TUNABLES_H

#include <assert.h>

/*
 * Memory, in bytes where nothing else is said.
 */

/* What different threads write is this far apart: CPUs fetch cache lines in pairs. */
#define IVL_LINE 128

/* The smallest stack; sync runs a child on top of its caller where so much of it is left. */
#define IVL_LEAST_STACK (32 << 10)
#define IVL_SYNC_STACK (16 << 10)
static_assert(IVL_SYNC_STACK < IVL_LEAST_STACK, "sync can run a child");

/*
 * A stack by default. Only the pages that were used take memory, and a page of the kernel's page
 * table for each 2 MiB in which there is one; of this size none is ever one huge page. Where the
 * address space is limited: that part of it, and the least.
 */
#define IVL_STACK (1ul << 20)
#define IVL_STACKS_IN_SPACE (1 << 14)
#define IVL_LEAST_DEFAULT_STACK (256ul << 10)
/* Of a sum of an algorithm: what has more bytes is not on the stack. */
#define IVL_SUM_ON_STACK 1024

/* Below a stack, with nothing mapped: most frames, which could step over it, are smaller. */
#define IVL_HOLE (64l << 10)
/* The stacks of one runtime are together, in areas of this size. */
#define IVL_STACK_AREA (64l << 30)
static_assert(IVL_HOLE % 4096 == 0 && IVL_HOLE < IVL_STACK_AREA, "stacks are mapped above it");
/* Free fibers that a worker keeps: at most, and that part of config.fibers_per_worker. */
#ifndef IVL_FIBERS_KEPT
#define IVL_FIBERS_KEPT 64
#endif
#define IVL_FIBERS_KEPT_PART 4

/* Of the blocks (blocks.h): in a magazine; of a slab. */
#ifndef IVL_MAGAZINE
#define IVL_MAGAZINE 64
#endif
#define IVL_SLAB_BYTES (64 << 10)
/* Of an async that is kept in a block; intervals.hpp knows what is left for the program. */
#define IVL_ASYNC_BYTES 192
static_assert(IVL_ASYNC_BYTES % 16 == 0 && IVL_MAGAZINE * IVL_ASYNC_BYTES < IVL_SLAB_BYTES,
	      "asyncs are blocks");

/*
 * Up to so many bytes of an async's argument are copied to its stack; more, to memory. Where
 * somebody watches, what is noted of it is in front of these.
 */
#define IVL_ASYNC_COPIED 1024
#define IVL_ASYNC_NOTED 48
static_assert(IVL_ASYNC_NOTED + IVL_ASYNC_COPIED < IVL_SYNC_STACK, "a stack has room for it");

/* Edges with room in the interval that they lead to. */
#define IVL_EDGES_INSIDE 3
/* So many of the last cancelled intervals are remembered; later ones overwrite them. */
#ifndef IVL_CANCELS_KEPT
#define IVL_CANCELS_KEPT 256
#endif
/* Tickets are made in blocks: with the list's link nearly a page. */
#ifndef IVL_TICKETS_IN_BLOCK
#define IVL_TICKETS_IN_BLOCK 252
#endif

/*
 * Of a trace (watch/): a buffer, of each worker; the longest packet; names that are known.
 */
#define IVL_LANE_BYTES (64 << 10)
#define IVL_PACKET_BYTES 1024
#define IVL_NAMES 1024

/*
 * Counts that a worker keeps for itself, so that not all workers write to one line.
 */

/* Taken ahead of a finish; a worker that remembers the finish holds one. */
#ifndef IVL_AHEAD
#define IVL_AHEAD 64
#endif
static_assert(IVL_AHEAD >= 2, "one is held, another is used");

/* References to the parent of intervals that have ended. */
#ifndef IVL_REFERENCES
#define IVL_REFERENCES 64
#endif
static_assert(IVL_REFERENCES >= 1, "each child's has one");

/*
 * Time.
 */

/*
 * How often sync looks for the report of a child on another worker before it lets its
 * own do something else: a microsecond or two. A small child has ended by then, and
 * its spawner does not move to that worker, and all its memory with it.
 */
#define IVL_SYNC_SPINS 64

/* A sync looks for mail at each so-many-th child: else small ones would feel it. A power of two. */
#define IVL_SYNC_LOOKS 8

/*
 * Mail comes after the queues (SLAW, section IV), but waits no longer than so many spawns
 * and pieces of work of a worker that could take it.
 */
#define IVL_MAIL_WAITS 64

/* Rounds of looking everywhere before a worker sleeps. */
#define IVL_SEARCH_ROUNDS 64

/*
 * Stealing costs thief and victim some hundred nanoseconds. Where what was stolen took
 * less, a thief that goes on only slows its victim down: it waits, each time twice as
 * long. Not asleep: being woken it would come in the way of its victim, too.
 */
#define IVL_STEAL_WORTH_NS 400
/* What took more pays for as much that takes less, but not for long: that may be over. */
#define IVL_MOST_GAINED_NS 128000
#define IVL_LEAST_PAUSE_NS 1000
#define IVL_LONGEST_PAUSE_NS 128000
static_assert(IVL_LEAST_PAUSE_NS <= IVL_LONGEST_PAUSE_NS, "a pause grows");

/*
 * Of the parallelism feedback (feedback.h): a quantum at least, which is some hundred times what
 * waking a worker takes; in percent, of how much of a quantum work is to be made (the delta of
 * A-STEAL's authors); and for how many quanta in sequence a worker is throttled beside work.
 */
#define IVL_QUANTUM_NS 10000000
#define IVL_UTILIZATION 80
#define IVL_THROTTLED_QUANTA 32

/*
 * In a burdened span: what it takes until another worker has stolen a task, and its end been
 * told (Documentation/intervals-seeing.rst).
 */
#define IVL_BURDEN_NS 5000

/*
 * Of locks that tasks hold (watch/locks.h): so many at a time are known, with so many calls by
 * which each came, of which so many are told; and at so many places of the program each fault is
 * told.
 */
#define IVL_LOCKS_SEEN 1024
#define IVL_LOCK_CALLS 24
#define IVL_LOCK_CALLS_TOLD 3
#define IVL_LOCKS_TOLD 64

/* What is told of a deadlock (deadlock.h), at most. */
#define IVL_DEADLOCK_LINES 16

/*
 * With a mask (victim.h), of so many rounds in sequence that get nothing the last asks
 * everybody. So in any so many such rounds each victim was asked, or its bit was set: an
 * element that is alone in its queue, which never sets the bit, waits for a thief no
 * longer than that.
 */
#define IVL_PATIENCE 8

/*
 * Loops.
 */

/* Parts per worker where the caller does not say how large one is: room to balance. */
#define IVL_PARTS_PER_WORKER 8
/*
 * A scan's parts are not longer, unless a sum has more bytes than this: a part is still in the
 * second-level cache when it is gone through again.
 */
#define IVL_SCANNED 8192
/* So many elements are sorted, or merged, by one task. */
#define IVL_SORTED_ALONE 2048

#endif
