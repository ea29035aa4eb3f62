/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No thread comes into ivl_run_here(): nobody has a seat (protocols/seats.cpp has those). */
#ifndef IVL_SEAT_H
#define IVL_SEAT_H

#include "worker.h"

struct ivl_seat {
	struct ivl_worker worker;
	struct ivl_seat *next;
};

inline struct ivl_seat *ivl_seats(const ivl_runtime *)
{
	return NULL;
}

inline bool ivl_seat_taken(const struct ivl_seat *)
{
	return false;
}

inline bool ivl_seat_near(const struct ivl_seat *, const struct ivl_place *)
{
	return false;
}

inline bool ivl_seat_called(const struct ivl_seat *)
{
	return false;
}

inline void ivl_seat_wait(struct ivl_seat *, bool (*)(void *, struct ivl_waiter *), void *) {}
inline void ivl_seat_call(struct ivl_seat *) {}

/* Nor are there fibers that can go on at one seat alone. */
inline bool ivl_bound_returned(struct ivl_bound *)
{
	return false;
}

inline struct ivl_work *ivl_bound_take(struct ivl_bound *)
{
	return NULL;
}

inline void ivl_bound_return(struct ivl_waiter *) {}
inline bool ivl_seats_let_off(struct ivl_worker *)
{
	return false;
}

inline void ivl_seats_rouse(ivl_runtime *) {}

#endif
