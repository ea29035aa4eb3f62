/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BENCH_SHA1_H
#define BENCH_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define SHA1_BYTES 20
#define SHA1_ONE_BLOCK 55	/* the longest message that one block holds */

/* FIPS 180-4, for messages of at most SHA1_ONE_BLOCK bytes. */
void sha1(const void *message, size_t bytes, uint8_t digest[SHA1_BYTES]);

#endif
