// SPDX-License-Identifier: GPL-2.0
#include "system_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 512	/* the kernel's KSYM_NAME_LEN */

static void note(struct symbol *symbols, size_t n, const char *name, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(symbols[i].name, name))
			symbols[i].address = address;
}

int system_map_find(const char *path, struct symbol *symbols, size_t n, char *error, size_t size)
{
	FILE *file = fopen(path, "re");
	char name[NAME_SIZE];
	uint64_t address;

	if (!file) {
		snprintf(error, size, "%s: %s; name the System.map of the guest's kernel", path,
			 strerror(errno));
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		symbols[i].address = 0;
	while (fscanf(file, "%" SCNx64 " %*c %511s", &address, name) == 2)
		note(symbols, n, name, address);
	fclose(file);
	for (size_t i = 0; i < n; i++) {
		if (symbols[i].address)
			continue;
		snprintf(error, size, "%s has no %s: it is not the map of a kernel built by "
			 "`fast kernel build`", path, symbols[i].name);
		return -1;
	}
	return 0;
}
