/* SPDX-License-Identifier: GPL-2.0 */
/* Words of any bytes, encoded as one word without spaces. */
#ifndef GUEST_WORDS_H
#define GUEST_WORDS_H

/*
 * Decode words that are percent-encoded and separated by %00. Returns them, ended by NULL,
 * in memory that is never freed; NULL without memory, or if a percent sign is not followed
 * by two hexadecimal digits.
 */
char **words_parse(const char *text);

#endif
