/* SPDX-License-Identifier: GPL-2.0 */
/* The JSON document of one region of interest: one line of a JSON Lines file. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "cachesim.h"
#include "call_sites.h"
#include "futexes.h"
#include "latencies.h"

/* A region's locks. */
struct region_locks {
	const struct futexes *futexes;
	const struct call_sites *sites;
	uint64_t heap;	/* where the program's heap begins; 0: unknown */
};

/*
 * The counts of `cs`, the sorted latencies and, unless `locks` is NULL, the locks as one line of
 * JSON with its newline; the caller frees it. NULL without memory. *length gets its length in
 * bytes. `elapsed` is the time from the begin marker to the end marker. Times are in cycles,
 * unless their name says ns.
 */
char *document_format(const struct cachesim *cs, uint64_t elapsed,
		      const struct region_latencies *latencies, const struct region_locks *locks,
		      size_t *length);

/*
 * Append `length` bytes to the file behind `fd`: all of them or, when the file
 * can be cut back, none. Returns 0, or -1 with errno.
 */
int document_append(int fd, const char *text, size_t length);

#endif
