/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's messages to the host: lines that begin with "FAST ".
 *
 * A workload's two streams arrive in pieces and at the same time; each is held
 * back until its line is complete, so that lines never mix.
 */
#ifndef GUEST_FRAME_H
#define GUEST_FRAME_H

#include <stddef.h>

/* Takes bytes to the host. Supplied by the program: a port in the guest, memory in a test. */
void frame_emit(const char *bytes, size_t size);

/* Send "FAST <formatted text>\n". */
void frame_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct stream {
	const char *name;	/* "out" or "err" */
	char *held;		/* a line that is not complete yet */
	size_t size;
};

/* Send "FAST <name> <line>\n" for every line completed by these bytes. */
void stream_feed(struct stream *stream, const char *bytes, size_t size);

/* The stream has ended: send its last line, if that lacks its newline. */
void stream_end(struct stream *stream);

#endif
