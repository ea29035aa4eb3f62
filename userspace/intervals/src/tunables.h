/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants chosen by measurement or for space; struct ivl_config has the program's choices. The
 * models override some with smaller values.
 */
#ifndef IVL_TUNABLES_H
#define IVL_TUNABLES_H

#include <assert.h>

/* Memory, in bytes unless stated. */

/* Distance of data that different threads write: CPUs fetch cache lines in pairs. */
#define IVL_LINE 128

/* The smallest stack, and what must be left of one for sync to run a child on it. */
#define IVL_LEAST_STACK (32 << 10)
#define IVL_SYNC_STACK (16 << 10)
static_assert(IVL_SYNC_STACK < IVL_LEAST_STACK, "sync can run a child");

/*
 * Default stack size. Only touched pages take memory, and a page-table page per 2 MiB; no stack of
 * this size is one huge page. With a limited address space: its fraction per stack, and the least
 * size.
 */
#define IVL_STACK (1ul << 20)
#define IVL_STACKS_IN_SPACE (1 << 14)
#define IVL_LEAST_DEFAULT_STACK (256ul << 10)
/* Larger sums of the algorithms are not on the stack. */
#define IVL_SUM_ON_STACK 1024

/* Unmapped hole below a stack; most frames are smaller and cannot step over it. */
#define IVL_HOLE (64l << 10)
/* Size of the areas that hold the stacks of one runtime. */
#define IVL_STACK_AREA (64l << 30)
static_assert(IVL_HOLE % 4096 == 0 && IVL_HOLE < IVL_STACK_AREA, "stacks are mapped above it");
/* Free fibers per worker: maximum, and divisor of config.fibers_per_worker. */
#ifndef IVL_FIBERS_KEPT
#define IVL_FIBERS_KEPT 64
#endif
#define IVL_FIBERS_KEPT_PART 4
/* Of an external worker that no thread uses. */
#define IVL_FIBERS_KEPT_OUTSIDE 4

/* Blocks per magazine, and bytes of a slab (blocks.h). */
#ifndef IVL_MAGAZINE
#define IVL_MAGAZINE 64
#endif
#define IVL_SLAB_BYTES (64 << 10)
/* Size of an async that fits in a block; intervals.hpp knows what is left for the program. */
#define IVL_ASYNC_BYTES 192
static_assert(IVL_ASYNC_BYTES % 16 == 0 && IVL_MAGAZINE * IVL_ASYNC_BYTES < IVL_SLAB_BYTES,
	      "asyncs are blocks");

/*
 * Larger arguments of an async are not copied to its stack but to memory. A traced async has its
 * record in front.
 */
#define IVL_ASYNC_COPIED 1024
#define IVL_ASYNC_NOTED 48
static_assert(IVL_ASYNC_NOTED + IVL_ASYNC_COPIED < IVL_SYNC_STACK, "a stack has room for it");

/* Edges stored in their target interval. */
#define IVL_EDGES_INSIDE 3
/* Cancelled intervals that are remembered. */
#ifndef IVL_CANCELS_KEPT
#define IVL_CANCELS_KEPT 256
#endif
/* Tickets per block: nearly a page. */
#ifndef IVL_TICKETS_IN_BLOCK
#define IVL_TICKETS_IN_BLOCK 252
#endif

/* Tracing (watch/): buffer per worker, longest packet, known function names. */
#define IVL_LANE_BYTES (64 << 10)
#define IVL_PACKET_BYTES 1024
#define IVL_NAMES 1024

/* Counts that a worker takes ahead, to avoid a line that all workers write. */

/* Of a finish; the worker that remembers the finish holds one. */
#ifndef IVL_AHEAD
#define IVL_AHEAD 64
#endif
static_assert(IVL_AHEAD >= 2, "one is held, another is used");

/* References to the parent of ended intervals. */
#ifndef IVL_REFERENCES
#define IVL_REFERENCES 64
#endif
static_assert(IVL_REFERENCES >= 1, "each child's has one");

/* Time. */

/*
 * Polls of a sync for the report of a child elsewhere before its worker does something else: 1 or 2
 * us. A small child has ended by then, and its spawner need not move to another worker.
 */
#define IVL_SYNC_SPINS 64

/* A sync looks for mail at every eighth child, to spare small ones. A power of two. */
#define IVL_SYNC_LOOKS 8

/*
 * Mail comes after the queues (SLAW, section IV), but waits for at most this many spawns and pieces
 * of work of a worker that serves it.
 */
#define IVL_MAIL_WAITS 64

/*
 * How long a worker without work searches unless the program says it: bounds of what is measured
 * (idle.h), and the time where no worker has been woken yet.
 */
#define IVL_SEARCH_US 20
#define IVL_SEARCH_LEAST_US 5
#define IVL_SEARCH_MOST_US 50
/* Rounds of a search between two looks at the clock, each with a yield of the CPU. */
#define IVL_SEARCH_ROUNDS 8

/*
 * A steal costs thief and victim some hundred ns. If stolen work takes less, further steals only
 * slow the victim down: the thief pauses, twice as long each time. It does not sleep, because the
 * victim would have to wake it.
 */
#define IVL_STEAL_WORTH_NS 400
/* Credit for stolen work that took longer, limited because that may be over. */
#define IVL_MOST_GAINED_NS 128000
#define IVL_LEAST_PAUSE_NS 1000
#define IVL_LONGEST_PAUSE_NS 128000
static_assert(IVL_LEAST_PAUSE_NS <= IVL_LONGEST_PAUSE_NS, "a pause grows");

/*
 * Parallelism feedback (feedback.h): quantum, some hundred times the cost of waking a worker;
 * A-STEAL's delta in percent; quanta in a row for which a worker is throttled although there is
 * work.
 */
#define IVL_QUANTUM_NS 10000000
#define IVL_UTILIZATION 80
#define IVL_THROTTLED_QUANTA 32

/* Burdened span: cost of a steal and of reporting the end (Documentation/debugging.rst). */
#define IVL_BURDEN_NS 5000

/*
 * Locks held by tasks (watch/locks.h): locks tracked, stack frames recorded and printed for each,
 * and places reported per fault.
 */
#define IVL_LOCKS_SEEN 1024
#define IVL_LOCK_CALLS 24
#define IVL_LOCK_CALLS_TOLD 3
#define IVL_LOCKS_TOLD 64

/* Lines of a deadlock report. */
#define IVL_DEADLOCK_LINES 16

/*
 * With a mask (victim.h): every eighth fruitless round asks all workers. So a single element, which
 * never sets its queue's bit, waits at most that long for a thief.
 */
#define IVL_PATIENCE 8

/* Loops. */

/* Parts per worker if the grain is not given: room to balance. */
#define IVL_PARTS_PER_WORKER 8
/* Times as many, where each part then has this many indices. */
#define IVL_PARTS_FINER 8
#define IVL_PART_LONG 4096
/* Largest part of a scan, unless a sum is larger: still in the L2 cache for the second pass. */
#define IVL_SCANNED 8192
/* Elements sorted or merged serially. */
#define IVL_SORTED_ALONE 2048

#endif
