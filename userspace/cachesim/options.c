// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_file.h"

static const char usage[] =
	"use machine=FILE,idle=0xSTART-0xEND,out=FILE (machine: one of userspace/cachesim/presets; "
	"idle: __cpuidle_text_start and __cpuidle_text_end of the guest kernel's System.map) and, to "
	"count futexes too, futexes=own or futexes=next";

/* An address and what follows it; strtoull alone would take a sign or spaces. */
static int parse_address(const char *text, uint64_t *address, char **end)
{
	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	*address = strtoull(text, end, 0);
	return errno ? -1 : 0;
}

static int parse_range(const char *text, uint64_t *start, uint64_t *last)
{
	char *end;

	if (parse_address(text, start, &end) || *end != '-')
		return -1;
	if (parse_address(end + 1, last, &end) || *end)
		return -1;
	return *start < *last ? 0 : -1;
}

/* The value of `arg` if it is "key=...", else NULL. */
static const char *value_of(const char *arg, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(arg, key, n) && arg[n] == '=' ? arg + n + 1 : NULL;
}

static int parse_one(struct options *o, const char *arg, char *error, size_t size)
{
	const char *value;

	if ((value = value_of(arg, "machine")) && !*o->machine.name)
		return machine_file_read(&o->machine, value, error, size);
	if ((value = value_of(arg, "idle")) && !o->idle_end) {
		if (!parse_range(value, &o->idle_start, &o->idle_end))
			return 0;
		snprintf(error, size, "idle=%s is not a range START-END of addresses: %s", value,
			 usage);
	} else if ((value = value_of(arg, "out")) && !o->out) {
		o->out = value;
		if (*value)
			return 0;
		snprintf(error, size, "out= names no file: %s", usage);
	} else if ((value = value_of(arg, "futexes")) && !o->futexes) {
		o->futexes = !strcmp(value, "own") ? FUTEXES_OWN :
			     !strcmp(value, "next") ? FUTEXES_NEXT : 0;
		if (o->futexes)
			return 0;
		snprintf(error, size, "futexes=%s is neither own nor next: %s", value, usage);
	} else {
		snprintf(error, size, "argument \"%s\" is unknown or given twice: %s", arg, usage);
	}
	return -1;
}

int options_parse(struct options *o, int argc, char **argv, char *error, size_t size)
{
	memset(o, 0, sizeof(*o));
	for (int i = 0; i < argc; i++)
		if (parse_one(o, argv[i], error, size))
			return -1;
	if (!*o->machine.name || !o->idle_end || !o->out) {
		snprintf(error, size, "%s is missing: %s",
			 !*o->machine.name ? "machine" : !o->idle_end ? "idle" : "out", usage);
		return -1;
	}
	return 0;
}
