/* SPDX-License-Identifier: GPL-2.0 */
/* Any words at all, as one word without spaces. */
#ifndef GUEST_WORDS_H
#define GUEST_WORDS_H

/*
 * Take apart words that are percent-encoded and separated by %00. Returns them, ended by
 * NULL, in memory of their own that is never given back; NULL without memory, or when
 * a percent sign is not followed by two hexadecimal digits.
 */
char **words_parse(const char *text);

#endif
