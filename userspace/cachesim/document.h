/* SPDX-License-Identifier: GPL-2.0 */
/* The JSON document of one region of interest: one line of a JSON Lines file. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "cachesim.h"
#include "call_sites.h"
#include "futexes.h"
#include "latencies.h"

/* What is told of a region's locks. */
struct region_locks {
	const struct futexes *futexes;
	const struct call_sites *sites;
	uint64_t heap;	/* where the program's begins; 0: not known */
};

/*
 * The counts of `cs`, the latencies, which are sorted, and the locks unless `locks` is NULL,
 * as one line of JSON with its newline; the caller frees it. NULL without memory. *length
 * gets its length in bytes. `elapsed` cycles went by from the begin marker to the end marker. All
 * times in the document are whole cycles, but for those whose name says ns.
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
