// SPDX-License-Identifier: GPL-2.0
/* The framing by itself. Prints what failed and exits with 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../frame.h"

static FILE *host;
static char *received;
static size_t received_size;
static int failures;

void frame_emit(const char *bytes, size_t size)
{
	if (size)
		fwrite(bytes, 1, size, host);
}

static void expect(const char *what, const char *expected, size_t size)
{
	fflush(host);
	if (received_size != size || memcmp(received, expected, size) != 0) {
		fprintf(stderr, "%s: expected %zu bytes \"%.200s\", got %zu bytes \"%.200s\"\n", what,
			size, expected, received_size, received);
		failures++;
	}
	rewind(host);
}

#define EXPECT(what, literal) expect(what, literal, sizeof(literal) - 1)
#define FEED(stream, literal) stream_feed(stream, literal, sizeof(literal) - 1)

static void test_long_line(struct stream *out)
{
	const size_t size = 200000;
	char *expected = malloc(size + 10);
	char piece[1000];

	memset(piece, 'x', sizeof(piece));
	for (size_t sent = 0; sent < size; sent += sizeof(piece))
		stream_feed(out, piece, sizeof(piece));
	FEED(out, "\n");
	memcpy(expected, "FAST out ", 9);
	memset(expected + 9, 'x', size);
	expected[9 + size] = '\n';
	expect("a line of 200000 bytes", expected, size + 10);
	free(expected);
}

int main(void)
{
	struct stream out = { .name = "out" }, err = { .name = "err" };

	host = open_memstream(&received, &received_size);

	frame_line("exit %d", 127);
	EXPECT("a line of our own", "FAST exit 127\n");

	FEED(&out, "one\ntwo\n");
	EXPECT("two lines at once", "FAST out one\nFAST out two\n");

	FEED(&out, "be");
	FEED(&err, "warning\n");
	FEED(&out, "gun\n");
	EXPECT("streams do not mix", "FAST err warning\nFAST out begun\n");

	FEED(&out, "\n");
	EXPECT("an empty line", "FAST out \n");

	FEED(&out, "a\0b\n");
	EXPECT("a zero byte", "FAST out a\0b\n");

	stream_end(&out);
	EXPECT("nothing held, nothing sent at the end", "");
	FEED(&out, "no newline");
	EXPECT("held back", "");
	stream_end(&out);
	EXPECT("sent at the end", "FAST out no newline\n");

	test_long_line(&out);

	fclose(host);
	free(received);
	return failures != 0;
}
