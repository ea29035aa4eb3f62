/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No thread enters ivl_run_here(): there are no external workers (see protocols/external.cpp). */
#ifndef IVL_EXTERNAL_H
#define IVL_EXTERNAL_H

#include "worker.h"

struct ivl_external {
	struct ivl_worker worker;
	struct ivl_external *next;
};

inline struct ivl_external *ivl_externals(const ivl_runtime *)
{
	return NULL;
}

inline bool ivl_external_taken(const struct ivl_external *)
{
	return false;
}

inline bool ivl_external_reaches(const struct ivl_external *, const struct ivl_place *)
{
	return false;
}

inline bool ivl_external_may_leave(const struct ivl_external *)
{
	return false;
}

inline void ivl_external_wait(struct ivl_external *, bool (*)(void *, struct ivl_waiter *), void *) {}
inline void ivl_external_call(struct ivl_external *) {}

/* Nor is a fiber bound to one external worker. */
inline bool ivl_tied_returned(struct ivl_tied *)
{
	return false;
}

inline struct ivl_work *ivl_tied_take(struct ivl_tied *)
{
	return NULL;
}

inline void ivl_tied_return(struct ivl_waiter *) {}
inline bool ivl_externals_lift_exclusion(struct ivl_worker *)
{
	return false;
}

inline void ivl_externals_wake_one(ivl_runtime *) {}

#endif
