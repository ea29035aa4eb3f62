// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

void frame_line(const char *format, ...)
{
	va_list args;
	char *text;
	int size;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	if (size < 0)
		return;	/* no memory, and the host misses the line */
	frame_emit("FAST ", 5);
	frame_emit(text, (size_t)size);
	frame_emit("\n", 1);
	free(text);
}

static void send_line(struct stream *stream, const char *bytes, size_t size)
{
	frame_emit("FAST ", 5);
	frame_emit(stream->name, strlen(stream->name));
	frame_emit(" ", 1);
	frame_emit(stream->held, stream->size);
	frame_emit(bytes, size);
	frame_emit("\n", 1);
	free(stream->held);
	stream->held = NULL;
	stream->size = 0;
}

static void hold(struct stream *stream, const char *bytes, size_t size)
{
	char *held = realloc(stream->held, stream->size + size);

	if (!held) {
		send_line(stream, bytes, size);	/* better a broken line than a lost one */
		return;
	}
	memcpy(held + stream->size, bytes, size);
	stream->held = held;
	stream->size += size;
}

void stream_feed(struct stream *stream, const char *bytes, size_t size)
{
	const char *newline;

	while ((newline = memchr(bytes, '\n', size))) {
		size_t length = (size_t)(newline - bytes);

		send_line(stream, bytes, length);
		bytes += length + 1;
		size -= length + 1;
	}
	if (size)
		hold(stream, bytes, size);
}

void stream_end(struct stream *stream)
{
	if (stream->size)
		send_line(stream, NULL, 0);
}
