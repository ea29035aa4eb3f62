// SPDX-License-Identifier: GPL-2.0
#include "words.h"

#include <stdlib.h>
#include <string.h>

/* The value of a hexadecimal digit, or -1. */
static int digit(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Decode into `out`, which has room for it; returns its end, or NULL. */
static char *decode(char *out, const char *text)
{
	while (*text) {
		if (*text != '%') {
			*out++ = *text++;
			continue;
		}
		if (digit(text[1]) < 0 || digit(text[2]) < 0)
			return NULL;
		*out++ = (char)(digit(text[1]) << 4 | digit(text[2]));
		text += 3;
	}
	*out++ = '\0';
	return out;
}

char **words_parse(const char *text)
{
	char *decoded = malloc(strlen(text) + 1);
	char *end = decoded ? decode(decoded, text) : NULL;
	char **words;
	size_t n = 0;

	/* There are no more words than bytes. */
	words = end ? malloc(((size_t)(end - decoded) + 1) * sizeof(*words)) : NULL;
	if (!words) {
		free(decoded);
		return NULL;
	}
	for (char *word = decoded; word < end; word += strlen(word) + 1)
		words[n++] = word;
	words[n] = NULL;
	return words;
}
