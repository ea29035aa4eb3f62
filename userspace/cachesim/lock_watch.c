// SPDX-License-Identifier: GPL-2.0
#include "lock_watch.h"

#include <stdlib.h>

#include "call_sites.h"
#include "heaps.h"
#include "registers.h"

#define GUEST_PAGE 4096u

struct lock_watch {
	struct futexes *futexes;
	struct locks *locks;
	struct call_sites *call_sites;
	struct heaps *heaps;
};

struct lock_watch *lock_watch_new(struct futexes *futexes)
{
	struct lock_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->futexes = futexes;
	w->locks = locks_new(futexes);
	w->call_sites = call_sites_new(futexes);
	w->heaps = heaps_new();
	if (w->locks && w->call_sites && w->heaps)
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

static void describe(struct call_site *site, uint64_t pc)
{
	unsigned int here;

	site->pc = pc;
	site->sp = register_read(REGISTER_RSP);
	site->bp = register_read(REGISTER_RBP);
	site->n = CALL_SITE_WORDS;
	if (memory_read(site->sp, site->stack, sizeof(site->stack)))
		return;
	/* A stack may end with its page. */
	here = (GUEST_PAGE - (site->sp & (GUEST_PAGE - 1))) / sizeof(site->stack[0]);
	site->n = here < CALL_SITE_WORDS ? here : 0;
	if (!memory_read(site->sp, site->stack, site->n * sizeof(site->stack[0])))
		site->n = 0;
}

int lock_watch_call(struct lock_watch *w, const struct lock_event *event, uint64_t number,
		    const uint64_t arguments[3], const struct handoff_news *news, uint64_t pc,
		    bool counts)
{
	struct call_site *site = NULL;

	if (heaps_call(w->heaps, event->space, number, arguments[0]) ||
	    locks_call(w->locks, event, number, arguments, news) ||
	    (counts && call_sites_call(w->call_sites, event->space, number, arguments, &site)))
		return -1;
	if (site)
		describe(site, pc);
	return 0;
}

int lock_watch_return(struct lock_watch *w, const struct lock_event *event, uint64_t result,
		      const struct handoff_news *news)
{
	heaps_return(w->heaps, event->space, result);
	return locks_return(w->locks, event, news);
}
