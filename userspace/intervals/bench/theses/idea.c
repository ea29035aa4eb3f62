// SPDX-License-Identifier: LGPL-2.1-or-later
#include "idea.h"

#define ROUNDS 8
#define ROUND_SUBKEYS 6

/* Modulo the prime 2^16 + 1, where 0 stands for 2^16. */
static uint16_t multiply(uint16_t a, uint16_t b)
{
	uint64_t product = (uint64_t)(a ? a : 0x10000) * (b ? b : 0x10000);

	return (uint16_t)(product % 0x10001);
}

/* By Fermat: a^(p - 2). */
static uint16_t inverse(uint16_t a)
{
	uint16_t power = a, result = 1;

	for (unsigned int exponent = 0x10001 - 2; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = multiply(result, power);
		power = multiply(power, power);
	}
	return result;
}

/* Eight words, then the eight of the key rotated left by 25 bits, and so on. */
void idea_encryption_key(const uint16_t user_key[8], uint16_t key[IDEA_SUBKEYS])
{
	for (unsigned int i = 0; i < IDEA_SUBKEYS; i++) {
		unsigned int bit = (i / 8 * 25 + i % 8 * 16) % 128;
		uint32_t two = (uint32_t)user_key[bit / 16] << 16 | user_key[(bit / 16 + 1) % 8];

		key[i] = (uint16_t)(two << bit % 16 >> 16);
	}
}

/* The inverses of the rounds' keys, the last first. Inside a round the sums change places. */
void idea_decryption_key(const uint16_t encryption[IDEA_SUBKEYS], uint16_t key[IDEA_SUBKEYS])
{
	for (unsigned int round = 0; round <= ROUNDS; round++) {
		const uint16_t *from = encryption + (ROUNDS - round) * ROUND_SUBKEYS;
		uint16_t *to = key + round * ROUND_SUBKEYS;
		unsigned int outer = !round || round == ROUNDS;

		to[0] = inverse(from[0]);
		to[1] = (uint16_t)-from[outer ? 1 : 2];
		to[2] = (uint16_t)-from[outer ? 2 : 1];
		to[3] = inverse(from[3]);
		if (round == ROUNDS)
			break;
		to[4] = from[-2];
		to[5] = from[-1];
	}
}

static void load(const uint8_t *bytes, uint16_t words[4])
{
	for (unsigned int i = 0; i < 4; i++)
		words[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
}

static void store(uint8_t *bytes, uint16_t a, uint16_t b, uint16_t c, uint16_t d)
{
	uint16_t words[4] = { a, b, c, d };

	for (unsigned int i = 0; i < 4; i++) {
		bytes[2 * i] = (uint8_t)(words[i] >> 8);
		bytes[2 * i + 1] = (uint8_t)words[i];
	}
}

void idea_cipher(const uint8_t *from, uint8_t *to, const uint16_t key[IDEA_SUBKEYS])
{
	uint16_t x[4];

	load(from, x);
	for (unsigned int round = 0; round < ROUNDS; round++, key += ROUND_SUBKEYS) {
		uint16_t a = multiply(x[0], key[0]), b = (uint16_t)(x[1] + key[1]);
		uint16_t c = (uint16_t)(x[2] + key[2]), d = multiply(x[3], key[3]);
		uint16_t p = multiply(a ^ c, key[4]);
		uint16_t q = multiply((uint16_t)((b ^ d) + p), key[5]);

		p = (uint16_t)(p + q);
		x[0] = a ^ q;
		x[1] = c ^ q;
		x[2] = b ^ p;
		x[3] = d ^ p;
	}
	/* The last round does not exchange the middle ones. */
	store(to, multiply(x[0], key[0]), (uint16_t)(x[2] + key[1]), (uint16_t)(x[1] + key[2]),
	      multiply(x[3], key[3]));
}
