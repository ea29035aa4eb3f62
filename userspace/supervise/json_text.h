/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAST_SUPERVISE_JSON_TEXT_H
#define FAST_SUPERVISE_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write `length` bytes as a JSON string. The output is valid UTF-8: a byte that belongs to no valid
 * sequence is written as the escape of U+DC00 + byte, from which Python's json.loads() and
 * os.fsencode() restore the bytes.
 */
void json_text(FILE *out, const char *text, size_t length);

#endif
