/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of the guest kernel's symbols, from its System.map. */
#ifndef SYSTEM_MAP_H
#define SYSTEM_MAP_H

#include <stddef.h>
#include <stdint.h>

struct symbol {
	const char *name;
	uint64_t address;
};

/*
 * Look up `n` symbols by their names. Returns 0, or -1 with a message for the user in
 * `error` (cut to `size`): the file cannot be read, or lacks one of them.
 */
int system_map_find(const char *path, struct symbol *symbols, size_t n, char *error, size_t size);

#endif
