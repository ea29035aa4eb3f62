/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The observers of the guest's locks together, for the plugin: hold times (locks.h), code that
 * takes and releases locks (call_sites.h), the heaps in which locks lie (heaps.h) and, if wanted,
 * the code that allocated their memory (allocations.h). To be called where registers may be read
 * (registers.h). Not thread-safe.
 */
#ifndef LOCK_WATCH_H
#define LOCK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "allocators.h"
#include "document.h"
#include "locks.h"

struct lock_watch;

/* `futexes` has to outlive it. NULL without memory. */
struct lock_watch *lock_watch_new(struct futexes *futexes, bool allocations);

void lock_watch_free(struct lock_watch *w);

/* A region of interest begins. */
void lock_watch_begin(struct lock_watch *w);

/* It ends: *locks gets the result, valid up to the next call. */
int lock_watch_end(struct lock_watch *w, const struct handoffs *h, struct region_locks *locks);

/* Is a return worth a call of lock_watch_return()? */
bool lock_watch_expects_return(const struct lock_watch *w);

/*
 * The instruction at pc makes system call `number` with these arguments, in a region of interest if
 * `counts`; or a thread returns with this result. `news` is of handoffs.h. These functions and
 * lock_watch_end() return 0, or -1 without memory.
 */
int lock_watch_call(struct lock_watch *w, const struct lock_event *event, uint64_t number,
		    const uint64_t arguments[3], const struct handoff_news *news, uint64_t pc,
		    bool counts);
int lock_watch_return(struct lock_watch *w, const struct lock_event *event, uint64_t result,
		      const struct handoff_news *news);

/* With allocations: is code of a program at pc worth a call of lock_watch_code()? */
bool lock_watch_expects_code(const struct lock_watch *w, uint64_t pc);

/*
 * The thread is about to execute code at pc, where `function` begins unless it is ALLOCATOR_NONE.
 * Returns 0, or -1 without memory.
 */
int lock_watch_code(struct lock_watch *w, uint64_t space, uint64_t thread, uint64_t pc,
		    enum allocator function);

#endif
