// SPDX-License-Identifier: LGPL-2.1-or-later
/* Single, sections and scope. */
#include "park.h"
#include "reduction.h"
#include "workshare.h"

GOMP_PUBLIC bool GOMP_single_start(void)
{
	return gomp_workshare_enter(gomp_member(), NULL, NULL);
}

/* NULL: the caller executes it, and calls GOMP_single_copy_end(). */
GOMP_PUBLIC void *GOMP_single_copy_start(void)
{
	struct member *self = gomp_member();

	if (gomp_workshare_enter(self, NULL, NULL))
		return NULL;
	gomp_barrier_wait(self, &self->team->barrier, false);
	return self->share->copied;
}

GOMP_PUBLIC void GOMP_single_copy_end(void *data)
{
	struct member *self = gomp_member();

	self->share->copied = data;
	gomp_barrier_wait(self, self->team ? &self->team->barrier : NULL, false);
}

static void init_sections(struct workshare *share, const void *count)
{
	share->count = *(const unsigned int *)count;
}

static unsigned int next_section(const struct member *self)
{
	struct workshare *share = self->share;
	uint64_t section;

	section = atomic_fetch_add_explicit(&share->taken, 1, memory_order_relaxed);
	return section < share->count ? (unsigned int)section + 1 : 0;
}

GOMP_PUBLIC unsigned int GOMP_sections_start(unsigned int count)
{
	struct member *self = gomp_member();

	gomp_workshare_enter(self, init_sections, &count);
	return next_section(self);
}

GOMP_PUBLIC unsigned int GOMP_sections2_start(unsigned int count, uintptr_t *reductions,
					      void **memory)
{
	struct member *self = gomp_member();

	gomp_workshare_enter(self, init_sections, &count);
	if (reductions)
		gomp_reductions_of_share(self, reductions);
	if (memory)
		gomp_workshare_memory(self->share, memory);
	return next_section(self);
}

GOMP_PUBLIC unsigned int GOMP_sections_next(void)
{
	return next_section(gomp_member());
}

GOMP_PUBLIC void GOMP_parallel_sections(void (*function)(void *), void *data, unsigned int asked,
					unsigned int count, unsigned int flags)
{
	struct team *team = gomp_team_begin(gomp_team_size(gomp_member(), asked), flags & 7);

	/* The region's first construct. */
	init_sections(gomp_workshare_combine(team), &count);
	gomp_team_release(team, function, data);
	function(data);
	gomp_team_end();
}

GOMP_PUBLIC void GOMP_parallel_sections_start(void (*function)(void *), void *data,
					      unsigned int asked, unsigned int count)
{
	struct team *team = gomp_team_begin(gomp_team_size(gomp_member(), asked), 0);

	init_sections(gomp_workshare_combine(team), &count);
	gomp_team_release(team, function, data);
}

GOMP_PUBLIC void GOMP_sections_end(void)
{
	GOMP_barrier();
}

GOMP_PUBLIC void GOMP_sections_end_nowait(void)
{
}

GOMP_PUBLIC bool GOMP_sections_end_cancel(void)
{
	return GOMP_barrier_cancel();
}

GOMP_PUBLIC void GOMP_scope_start(uintptr_t *reductions)
{
	struct member *self = gomp_member();

	gomp_workshare_enter(self, NULL, NULL);
	if (reductions)
		gomp_reductions_of_share(self, reductions);
}
