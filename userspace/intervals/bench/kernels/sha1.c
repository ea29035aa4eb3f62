// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "sha1.h"

static uint32_t rotate(uint32_t x, unsigned int bits)
{
	return x << bits | x >> (32 - bits);
}

static uint32_t load(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static void store(uint8_t *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = word >> (24 - 8 * i);
}

/* FIPS 180-4, section 4.1.1. */
static uint32_t choose(uint32_t b, uint32_t c, uint32_t d)
{
	return (b & c) | (~b & d);
}

static uint32_t parity(uint32_t b, uint32_t c, uint32_t d)
{
	return b ^ c ^ d;
}

static uint32_t majority(uint32_t b, uint32_t c, uint32_t d)
{
	return (b & c) | (b & d) | (c & d);
}

/* Twenty rounds, with the function and the constant that they have in common. */
static inline void rounds(uint32_t s[5], const uint32_t *w,
			  uint32_t (*f)(uint32_t, uint32_t, uint32_t), uint32_t k)
{
	for (int t = 0; t < 20; t++) {
		uint32_t next = rotate(s[0], 5) + f(s[1], s[2], s[3]) + s[4] + k + w[t];

		s[4] = s[3];
		s[3] = s[2];
		s[2] = rotate(s[1], 30);
		s[1] = s[0];
		s[0] = next;
	}
}

void sha1(const void *message, size_t bytes, uint8_t digest[SHA1_BYTES])
{
	static const uint32_t initial[5] = {
		0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0,
	};
	uint8_t block[64] = { 0 };
	uint32_t s[5], w[80];

	memcpy(block, message, bytes);
	block[bytes] = 0x80;
	store(block + 60, (uint32_t)bytes * 8);
	for (int t = 0; t < 16; t++)
		w[t] = load(block + 4 * t);
	for (int t = 16; t < 80; t++)
		w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
	memcpy(s, initial, sizeof(s));
	rounds(s, w, choose, 0x5a827999);
	rounds(s, w + 20, parity, 0x6ed9eba1);
	rounds(s, w + 40, majority, 0x8f1bbcdc);
	rounds(s, w + 60, parity, 0xca62c1d6);
	for (int i = 0; i < 5; i++)
		store(digest + 4 * i, initial[i] + s[i]);
}
