// SPDX-License-Identifier: GPL-2.0
#include "unit.h"
#include "document.h"

static void assert_session(const struct session *session, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	document_session(out, session);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
}

TEST(how_it_ended)
{
	struct session session = { .elapsed_ns = 5, .wait_status = 3 << 8 };

	assert_session(&session,
		       ",\"exit_status\":3,\"signal\":null,\"regions\":null,\"elapsed_ns\":5");
	session.roi = true;
	session.regions = 2;
	session.wait_status = 9;
	assert_session(&session,
		       ",\"exit_status\":null,\"signal\":9,\"regions\":2,\"elapsed_ns\":5");
}

static void assert_text(const char *given, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	document_text(out, "x", given);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
}

TEST(any_text)
{
	assert_text("a \"b\" \\ c\nd", ",\"x\":\"a \\\"b\\\" \\\\ c\\u000ad\"");
	assert_text("", ",\"x\":\"\"");
	assert_text(NULL, ",\"x\":null");
}

/* Python's surrogateescape codec makes the bytes of it again. */
TEST(what_is_no_utf8)
{
	assert_text("/caf\xe9/\xc3\xa9", ",\"x\":\"/caf\\udce9/\xc3\xa9\"");
	assert_text("\xe2\x82\xac\xf0\x9f\x98\x80", ",\"x\":\"\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* Cut off, too long, a surrogate, beyond Unicode. */
	assert_text("\xe2\x82", ",\"x\":\"\\udce2\\udc82\"");
	assert_text("\xc0\xaf", ",\"x\":\"\\udcc0\\udcaf\"");
	assert_text("\xe0\x80\xaf", ",\"x\":\"\\udce0\\udc80\\udcaf\"");
	assert_text("\xed\xa0\x80", ",\"x\":\"\\udced\\udca0\\udc80\"");
	assert_text("\xf4\x90\x80\x80", ",\"x\":\"\\udcf4\\udc90\\udc80\\udc80\"");
	assert_text("\xf5\x80\x80\x80x", ",\"x\":\"\\udcf5\\udc80\\udc80\\udc80x\"");
}

/* A full disk is noticed when what is written goes there. */
TEST(a_full_disk)
{
	FILE *document;

	assert_int_equal(document_open(&document, "/dev/full"), 0);
	document_number(document, "x", true, 1);
	assert_int_equal(document_flush(document, "/dev/full"), EXIT_OURS);
	fclose(document);
	assert_int_equal(document_open(&document, "/no/such/file"), EXIT_OURS);
	assert_int_equal(document_open(&document, NULL), 0);
	assert_null(document);
}

RUN_TESTS(NULL, NULL)
