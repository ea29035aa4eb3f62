// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "machine_file.h"

static const char usage[] =
	"use machine=FILE,system_map=FILE,out=FILE (machine: one of userspace/cachesim/presets; "
	"system_map: the guest kernel's) and, if wanted, quantum=CYCLES, "
	"node_memory=BYTES to make each cluster a NUMA node, futexes=own or futexes=next to count "
	"futexes, too, attribute=FILE to count by instruction, too, and with both allocators=FILE "
	"to tell where locks were allocated";

/*
 * A number and what follows it. strtoull alone would take a sign or spaces, and for octal what
 * begins with a zero that is not 0x.
 */
static int parse_number(const char *text, uint64_t *number, char **end)
{
	if (!isdigit((unsigned char)*text) || (*text == '0' && isdigit((unsigned char)text[1])))
		return -1;
	errno = 0;
	*number = strtoull(text, end, 0);
	return errno ? -1 : 0;
}

/* The value of `arg` if it is "key=...", else NULL. */
static const char *value_of(const char *arg, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(arg, key, n) && arg[n] == '=' ? arg + n + 1 : NULL;
}

static int parse_one(struct options *o, const char *arg, char *error, size_t size)
{
	const struct {
		const char *key;
		const char **name;
	} files[] = {
		{ "machine", &o->machine_file },
		{ "system_map", &o->system_map },
		{ "out", &o->out },
		{ "attribute", &o->attribute },
		{ "allocators", &o->allocators },
	};
	const char *value;
	char *end;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		value = value_of(arg, files[i].key);
		if (!value || *files[i].name)
			continue;
		*files[i].name = value;
		if (*value)
			return 0;
		snprintf(error, size, "%s= names no file: %s", files[i].key, usage);
		return -1;
	}
	if ((value = value_of(arg, "node_memory")) && !o->node_memory) {
		if (!parse_number(value, &o->node_memory, &end) && !*end && o->node_memory)
			return 0;
		snprintf(error, size, "node_memory=%s is not a number of bytes from 1 on: %s", value,
			 usage);
	} else if ((value = value_of(arg, "quantum")) && !o->quantum) {
		uint64_t cycles;

		if (!parse_number(value, &cycles, &end) && !*end && cycles >= CLOCK_MIN_QUANTUM &&
		    cycles <= CLOCK_MAX_QUANTUM) {
			o->quantum = cycles;
			return 0;
		}
		snprintf(error, size, "quantum=%s is not a number of cycles from %u to %u: %s", value,
			 CLOCK_MIN_QUANTUM, CLOCK_MAX_QUANTUM, usage);
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
	if (!o->machine_file || !o->system_map || !o->out) {
		snprintf(error, size, "%s is missing: %s", !o->machine_file ? "machine" :
			 !o->system_map ? "system_map" : "out", usage);
		return -1;
	}
	if (o->allocators && (!o->futexes || !o->attribute)) {
		snprintf(error, size, "allocators= without futexes= and attribute=: %s", usage);
		return -1;
	}
	if (machine_file_read(&o->machine, o->machine_file, error, size))
		return -1;
	if (!o->quantum)
		o->quantum = CLOCK_DEFAULT_QUANTUM;
	return 0;
}
