/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The longest paths of the happens-before graph to a moment of a task or a point of an interval, by
 * three measures.
 */
#ifndef IVL_SPAN_H
#define IVL_SPAN_H

#include <stdint.h>

struct ivl_span {
	uint64_t ns;
	uint64_t burdened_ns;		/* plus the cost of moving each task on the path */
	uint64_t tasks;
};

static inline uint64_t ivl_longer(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* Extend paths that led to `from` to `at`. */
static inline void ivl_span_reach(struct ivl_span *at, const struct ivl_span *from)
{
	at->ns = ivl_longer(at->ns, from->ns);
	at->burdened_ns = ivl_longer(at->burdened_ns, from->burdened_ns);
	at->tasks = ivl_longer(at->tasks, from->tasks);
}

#endif
