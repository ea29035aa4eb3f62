// SPDX-License-Identifier: GPL-2.0
#include "json_text.h"

/* Of the valid UTF-8 sequence that `text` begins with (RFC 3629), in bytes; 0: there is none. */
static size_t sequence(const unsigned char *text, size_t left)
{
	unsigned char first = text[0];
	size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 :
			first < 0xf5 ? 4 : 0;

	if (length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong, a surrogate, or beyond U+10FFFF. */
	if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] >= 0xa0) ||
	    (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] >= 0x90))
		return 0;
	return length;
}

void json_text(FILE *out, const char *text, size_t length)
{
	const unsigned char *c = (const unsigned char *)text, *end = c + length;

	fputc('"', out);
	for (size_t bytes; c < end; c += bytes ? bytes : 1) {
		bytes = sequence(c, (size_t)(end - c));
		if (!bytes)
			fprintf(out, "\\udc%02x", *c);
		else if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < ' ')
			fprintf(out, "\\u%04x", *c);
		else
			fwrite(c, 1, bytes, out);
	}
	fputc('"', out);
}
