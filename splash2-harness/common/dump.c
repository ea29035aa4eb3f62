// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "dump.h"
#include "splash.h"

static void refuse(const char *name)
{
	splash_refuse("%s cannot be written: %s", name, strerror(errno));
}

FILE *dump_open(const char *name)
{
	FILE *file = fopen(name, "wb");

	if (!file)
		refuse(name);
	return file;
}

void dump_doubles(FILE *file, const char *name, const double *values, size_t count)
{
	if (fwrite(values, sizeof(*values), count, file) != count)
		refuse(name);
}

void dump_close(FILE *file, const char *name)
{
	if (fclose(file))
		refuse(name);
}
