// SPDX-License-Identifier: LGPL-2.1-or-later
/* Java Grande's Crypt: a text is encrypted with IDEA, and decrypted again. */
#include "idea.h"
#include "theses.h"

struct bench_crypt bench_crypt;

static uint8_t *plain, *encrypted, *decrypted;
static uint16_t encryption[IDEA_SUBKEYS], decryption[IDEA_SUBKEYS];

static void cipher(size_t begin, size_t end, const uint8_t *from, uint8_t *to, const uint16_t *key)
{
	for (size_t i = begin * IDEA_BLOCK; i < end * IDEA_BLOCK; i += IDEA_BLOCK)
		idea_cipher(from + i, to + i, key);
}

void crypt_encrypt(size_t begin, size_t end)
{
	cipher(begin, end, plain, encrypted, encryption);
}

void crypt_decrypt(size_t begin, size_t end)
{
	cipher(begin, end, encrypted, decrypted, decryption);
}

static bool allocate(size_t bytes)
{
	plain = malloc(bytes);
	encrypted = malloc(bytes);
	decrypted = malloc(bytes);
	if (!plain || !encrypted || !decrypted)
		return false;
	for (size_t i = 0; i < bytes; i++)
		plain[i] = (uint8_t)(i * 2654435761U >> 24);
	return true;
}

static int prepare(unsigned int size)
{
	static const uint16_t user_key[8] = {
		0x2bd6, 0x459f, 0x82c5, 0xb300, 0x952c, 0x4910, 0x4881, 0xff48,
	};

	if (size % IDEA_BLOCK)
		return EINVAL;
	if (bench_crypt.blocks != size / IDEA_BLOCK && !allocate(size))
		return ENOMEM;
	bench_crypt.blocks = size / IDEA_BLOCK;
	idea_encryption_key(user_key, encryption);
	idea_decryption_key(encryption, decryption);
	memset(encrypted, 0, size);
	memset(decrypted, 0, size);
	return 0;
}

/* The example of the cipher's authors (Lai's thesis, and every implementation's test). */
static bool known_answer(void)
{
	static const uint16_t user_key[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const uint8_t text[IDEA_BLOCK] = { 0, 0, 0, 1, 0, 2, 0, 3 };
	static const uint8_t answer[IDEA_BLOCK] = {
		0x11, 0xfb, 0xed, 0x2b, 0x01, 0x98, 0x6d, 0xe5,
	};
	uint16_t key[IDEA_SUBKEYS], back[IDEA_SUBKEYS];
	uint8_t secret[IDEA_BLOCK], again[IDEA_BLOCK];

	idea_encryption_key(user_key, key);
	idea_decryption_key(key, back);
	idea_cipher(text, secret, key);
	idea_cipher(secret, again, back);
	return !memcmp(secret, answer, IDEA_BLOCK) && !memcmp(again, text, IDEA_BLOCK);
}

/* A plain copy would be decrypted right, too. */
static bool check(void)
{
	size_t bytes = bench_crypt.blocks * IDEA_BLOCK;

	for (size_t i = 0; i < bytes; i += IDEA_BLOCK)
		if (!memcmp(plain + i, encrypted + i, IDEA_BLOCK))
			return false;
	return known_answer() && !memcmp(plain, decrypted, bytes);
}

const struct bench_kernel bench_kernel_crypt = {
	.name = "crypt", .size = 50000000, .quick_size = 80000, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
