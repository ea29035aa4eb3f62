// SPDX-License-Identifier: GPL-2.0
/* Words of any bytes come through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "../words.h"

static void gives_the_words(void)
{
	char **words = words_parse("/a%20b%00%00%25%C3%BC%0A%00-x=1");

	CHECK(words);
	CHECK(!strcmp(words[0], "/a b"));
	CHECK(!strcmp(words[1], ""));
	CHECK(!strcmp(words[2], "%\xc3\xbc\n"));
	CHECK(!strcmp(words[3], "-x=1"));
	CHECK(!words[4]);
	free(words[0]);
	free(words);
}

static void gives_one_empty_word_for_nothing(void)
{
	char **words = words_parse("");

	CHECK(words && !strcmp(words[0], "") && !words[1]);
	free(words[0]);
	free(words);
}

static void refuses_what_is_cut_short(void)
{
	CHECK(!words_parse("a%"));
	CHECK(!words_parse("a%2"));
	CHECK(!words_parse("a%2x"));
	CHECK(!words_parse("%x2"));
}

int main(void)
{
	gives_the_words();
	gives_one_empty_word_for_nothing();
	refuses_what_is_cut_short();
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
