/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void crypt_encrypt_part(size_t begin, size_t end, void *arg)
{
	crypt_encrypt(begin, end);
}

static void crypt_decrypt_part(size_t begin, size_t end, void *arg)
{
	crypt_decrypt(begin, end);
}

static void crypt_run(void)
{
	par_for(0, bench_crypt.blocks, crypt_encrypt_part, NULL);
	par_for(0, bench_crypt.blocks, crypt_decrypt_part, NULL);
}
