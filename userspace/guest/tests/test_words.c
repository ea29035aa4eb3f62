// SPDX-License-Identifier: GPL-2.0
/* Words of any bytes come through. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "../words.h"

TEST(gives_the_words)
{
	char **words = words_parse("/a%20b%00%00%25%C3%BC%0A%00-x=1");

	assert_true(words);
	assert_string_equal(words[0], "/a b");
	assert_string_equal(words[1], "");
	assert_string_equal(words[2], "%\xc3\xbc\n");
	assert_string_equal(words[3], "-x=1");
	assert_true(!words[4]);
	free(words[0]);
	free(words);
}

TEST(gives_one_empty_word_for_nothing)
{
	char **words = words_parse("");

	assert_true(words && !strcmp(words[0], "") && !words[1]);
	free(words[0]);
	free(words);
}

TEST(refuses_what_is_cut_short)
{
	assert_true(!words_parse("a%"));
	assert_true(!words_parse("a%2"));
	assert_true(!words_parse("a%2x"));
	assert_true(!words_parse("%x2"));
}

RUN_TESTS(NULL, NULL)
