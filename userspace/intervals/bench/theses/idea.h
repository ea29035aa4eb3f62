/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block cipher IDEA (Lai and Massey, 1991): blocks of 64 bits, keys of 128. */
#ifndef BENCH_IDEA_H
#define BENCH_IDEA_H

#include <stdint.h>

#define IDEA_BLOCK 8
#define IDEA_SUBKEYS 52

void idea_encryption_key(const uint16_t user_key[8], uint16_t key[IDEA_SUBKEYS]);
void idea_decryption_key(const uint16_t encryption[IDEA_SUBKEYS], uint16_t key[IDEA_SUBKEYS]);
/* One block, of big-endian words. */
void idea_cipher(const uint8_t *from, uint8_t *to, const uint16_t key[IDEA_SUBKEYS]);

#endif
