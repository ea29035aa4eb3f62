// SPDX-License-Identifier: GPL-2.0
#include "lock_watch.h"

#include <stdlib.h>

#include "allocations.h"
#include "call_sites.h"
#include "heaps.h"
#include "registers.h"

#define GUEST_PAGE 4096u

struct lock_watch {
	struct futexes *futexes;
	struct locks *locks;
	struct call_sites *call_sites;
	struct heaps *heaps;
	struct allocations *allocations;	/* NULL: not wanted */
};

struct lock_watch *lock_watch_new(struct futexes *futexes, bool allocations)
{
	struct lock_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->futexes = futexes;
	w->locks = locks_new(futexes);
	w->call_sites = call_sites_new(futexes);
	w->heaps = heaps_new();
	w->allocations = allocations ? allocations_new() : NULL;
	if (w->locks && w->call_sites && w->heaps && !w->allocations == !allocations)
		return w;
	lock_watch_free(w);
	return NULL;
}

void lock_watch_free(struct lock_watch *w)
{
	if (w->locks)
		locks_free(w->locks);
	if (w->call_sites)
		call_sites_free(w->call_sites);
	if (w->heaps)
		heaps_free(w->heaps);
	if (w->allocations)
		allocations_free(w->allocations);
	free(w);
}

void lock_watch_begin(struct lock_watch *w)
{
	locks_begin(w->locks);
	call_sites_begin(w->call_sites);
}

int lock_watch_end(struct lock_watch *w, const struct handoffs *h, struct region_locks *locks)
{
	*locks = (struct region_locks){
		.futexes = w->futexes,
		.sites = w->call_sites,
		.heap = heaps_begin_of(w->heaps, futexes_program_space(w->futexes)),
	};
	return locks_end(w->locks, h);
}

bool lock_watch_expects_return(const struct lock_watch *w)
{
	return heaps_expects_return(w->heaps);
}

/* Reads up to `most` words; returns their number. */
static unsigned int read_stack(uint64_t sp, uint64_t *stack, unsigned int most)
{
	unsigned int here;

	if (memory_read(sp, stack, most * sizeof(stack[0])))
		return most;
	/* A stack may end with its page. */
	here = (GUEST_PAGE - (sp & (GUEST_PAGE - 1))) / sizeof(stack[0]);
	return here < most && memory_read(sp, stack, here * sizeof(stack[0])) ? here : 0;
}

static void describe(const struct lock_watch *w, struct call_site *site, uint64_t space,
		     uint64_t pc)
{
	const struct allocation_site *from;

	site->pc = pc;
	site->sp = register_read(REGISTER_RSP);
	site->bp = register_read(REGISTER_RBP);
	site->n = read_stack(site->sp, site->stack, CALL_SITE_WORDS);
	from = w->allocations ? allocations_at(w->allocations, space, site->address) : NULL;
	if (from)
		site->allocation = *from;
}

int lock_watch_call(struct lock_watch *w, const struct lock_event *event, uint64_t number,
		    const uint64_t arguments[3], const struct handoff_news *news, uint64_t pc,
		    bool counts)
{
	struct call_site *site = NULL;

	/* Only a program that has just begun asks without a thread pointer. */
	if (w->allocations && !event->thread && heaps_is_asked(number, arguments[0]))
		allocations_forget(w->allocations, event->space);
	if (heaps_call(w->heaps, event->space, number, arguments[0]) ||
	    locks_call(w->locks, event, number, arguments, news) ||
	    (counts && call_sites_call(w->call_sites, event->space, number, arguments, &site)))
		return -1;
	if (site)
		describe(w, site, event->space, pc);
	return 0;
}

int lock_watch_return(struct lock_watch *w, const struct lock_event *event, uint64_t result,
		      const struct handoff_news *news)
{
	heaps_return(w->heaps, event->space, result);
	return locks_return(w->locks, event, news);
}

bool lock_watch_expects_code(const struct lock_watch *w, uint64_t pc)
{
	return allocations_expects_return(w->allocations, pc);
}

/* The memory that a finished call has returned. */
static uint64_t memory_of(const struct allocation_call *call)
{
	uint64_t result = register_read(REGISTER_RAX), memory;

	if (call->function != ALLOCATOR_POSIX_MEMALIGN)
		return result;
	return !result && memory_read(call->arguments[0], &memory, sizeof(memory)) ? memory : 0;
}

int lock_watch_code(struct lock_watch *w, uint64_t space, uint64_t thread, uint64_t pc,
		    enum allocator function)
{
	struct allocation_call call = {
		.function = function, .space = space, .thread = thread,
		.site = { .pc = pc, .sp = register_read(REGISTER_RSP) },
	};
	const struct allocation_call *over =
		allocations_over(w->allocations, space, thread, pc, call.site.sp);

	if (over && allocations_return(w->allocations, over, memory_of(over)))
		return -1;
	if (function == ALLOCATOR_NONE)
		return 0;
	call.arguments[0] = register_read(REGISTER_RDI);
	call.arguments[1] = register_read(REGISTER_RSI);
	call.arguments[2] = register_read(REGISTER_RDX);
	call.site.bp = register_read(REGISTER_RBP);
	call.site.n = read_stack(call.site.sp, call.site.stack, ALLOCATION_WORDS);
	return allocations_call(w->allocations, &call);
}
