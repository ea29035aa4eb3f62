// SPDX-License-Identifier: GPL-2.0
#include "machine_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 256

enum kind { NUMBER, BOOLEAN, WRITE_POLICY, REPLACEMENT, NAME };

static const struct key {
	const char *name;
	enum kind kind;
	size_t offset;		/* of its field in struct cachesim_machine */
	uint32_t least, most;	/* of a number */
} keys[] = {
#define FIELD(key, kind, ...) { #key, kind, offsetof(struct cachesim_machine, key), __VA_ARGS__ }
#define LEVEL(level) \
	FIELD(level.size, NUMBER, 64, 1u << 30), \
	FIELD(level.ways, NUMBER, 1, 128), \
	FIELD(level.line, NUMBER, 16, 1024), \
	FIELD(level.replacement, REPLACEMENT, 0, 0)
	FIELD(name, NAME, 0, 0),
	FIELD(mhz, NUMBER, 1, 100000),
	FIELD(cpi, NUMBER, 1, CACHESIM_MOST_CPI),
	FIELD(kernel_cpi, NUMBER, 1, 10000),
	FIELD(overlap, NUMBER, 1, 256),
	FIELD(overlap_window, NUMBER, 0, 10000),
	FIELD(clusters, NUMBER, 0, CACHESIM_MAX_CPUS),
	FIELD(cluster_cpus, NUMBER, 0, CACHESIM_MAX_CPUS),
	LEVEL(l1i),
	LEVEL(l1d),
	FIELD(l1d.write, WRITE_POLICY, 0, 0),
	LEVEL(l2),
	LEVEL(l3),
	FIELD(l3.shared, BOOLEAN, 0, 0),
	FIELD(migratory, BOOLEAN, 0, 0),
	FIELD(latency.l2, NUMBER, 0, 100000),
	FIELD(latency.l3, NUMBER, 0, 100000),
	FIELD(latency.transfer, NUMBER, 0, 100000),
	FIELD(latency.next_transfer, NUMBER, 0, 100000),
	FIELD(latency.memory, NUMBER, 0, 100000),
	FIELD(latency.remote_memory, NUMBER, 0, 100000),
	FIELD(latency.cache_to_cache, NUMBER, 0, 100000),
	FIELD(latency.upgrade, NUMBER, 0, 100000),
	FIELD(bus, NUMBER, 0, 10000),
	FIELD(pause, NUMBER, CACHESIM_LEAST_PAUSE, 10000),
	FIELD(context_switch, NUMBER, 0, 100000),
	FIELD(wakeup, NUMBER, 0, 1000000),
	FIELD(interrupt, NUMBER, 0, 1000000),
#undef LEVEL
#undef FIELD
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

/* Where reading stands, and where what is wrong goes. */
struct reader {
	const char *path;
	unsigned int line;
	char *error;
	size_t size;
};

__attribute__((format(printf, 2, 3)))
static int fail(const struct reader *r, const char *format, ...)
{
	int n = snprintf(r->error, r->size, "%s:%u: ", r->path, r->line);
	va_list arguments;

	if (n >= 0 && (size_t)n < r->size) {
		va_start(arguments, format);
		vsnprintf(r->error + n, r->size - n, format, arguments);
		va_end(arguments);
	}
	return -1;
}

/* As TOML has it: digits, no sign, no leading zero. */
static bool read_number(const char *text, const struct key *key, uint32_t *number)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long value;

	if (!digits || text[digits] || (*text == '0' && digits > 1))
		return false;
	value = strtoul(text, NULL, 10);
	*number = value;
	return value >= key->least && value <= key->most;
}

/* The string in quotes that is the whole of `text`, without them; or NULL. */
static char *unquoted(char *text)
{
	size_t n = strlen(text);

	if (n < 2 || *text != '"' || text[n - 1] != '"')
		return NULL;
	text[n - 1] = '\0';
	return text + 1;
}

/* Which of two words `text` is; -1: neither. */
static int one_of(const char *text, const char *first, const char *second)
{
	return !strcmp(text, first) ? 0 : !strcmp(text, second) ? 1 : -1;
}

static bool is_name(const char *text)
{
	size_t n = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.") : 0;

	return n && !text[n] && n < CACHESIM_NAME_SIZE;
}

static int set(const struct reader *r, struct cachesim_machine *m, const struct key *key,
	       char *text)
{
	void *field = (char *)m + key->offset;
	int word = -1;

	switch (key->kind) {
	case NUMBER:
		if (read_number(text, key, field))
			return 0;
		return fail(r, "%s = %s: a whole number from %u to %u is allowed", key->name, text,
			    key->least, key->most);
	case BOOLEAN:
		word = one_of(text, "false", "true");
		*(bool *)field = word == 1;
		return word >= 0 ? 0 : fail(r, "%s = %s: true or false is allowed", key->name, text);
	case WRITE_POLICY:
		word = one_of(text, "\"back\"", "\"through\"");
		*(enum cachesim_write_policy *)field = word == 1 ? CACHESIM_WRITE_THROUGH
								 : CACHESIM_WRITE_BACK;
		return word >= 0 ? 0 : fail(r, "%s = %s: \"back\" or \"through\" is allowed",
					    key->name, text);
	case REPLACEMENT:
		word = one_of(text, "\"lru\"", "\"fifo\"");
		*(enum cachesim_replacement *)field = word == 1 ? CACHESIM_FIFO : CACHESIM_LRU;
		return word >= 0 ? 0 : fail(r, "%s = %s: \"lru\" or \"fifo\" is allowed", key->name,
					    text);
	case NAME:
		break;
	}
	text = unquoted(text);
	if (!is_name(text))
		return fail(r, "%s: up to %d small letters, digits, '-', '_' and '.' in quotes "
			    "are allowed", key->name, CACHESIM_NAME_SIZE - 1);
	strcpy(field, text);
	return 0;
}

static char *trimmed(char *text)
{
	char *end;

	text += strspn(text, " \t\r\n");
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return text;
}

static int read_line(const struct reader *r, struct cachesim_machine *m, unsigned int *lines,
		     char *text)
{
	char *value;

	/* No string that is allowed holds a '#'. */
	text[strcspn(text, "#")] = '\0';
	text = trimmed(text);
	if (!*text)
		return 0;
	value = strchr(text, '=');
	if (!value)
		return fail(r, "\"%s\" is not KEY = VALUE, a comment after '#', or empty", text);
	*value++ = '\0';
	text = trimmed(text);
	for (size_t i = 0; i < N_KEYS; i++) {
		if (strcmp(keys[i].name, text))
			continue;
		if (lines[i])
			return fail(r, "%s is given twice, first in line %u: leave one out", text,
				    lines[i]);
		lines[i] = r->line;
		return set(r, m, &keys[i], trimmed(value));
	}
	return fail(r, "there is no key \"%s\"; Documentation/cache-model.rst names them all", text);
}

static int read_lines(struct reader *r, struct cachesim_machine *m, FILE *file)
{
	unsigned int lines[N_KEYS] = { 0 };	/* where each key stands; 0: nowhere yet */
	char text[LINE_SIZE];

	while (fgets(text, sizeof(text), file)) {
		r->line++;
		if (!strchr(text, '\n') && !feof(file))
			return fail(r, "the line is longer than %d characters", LINE_SIZE - 2);
		if (read_line(r, m, lines, text))
			return -1;
	}
	if (ferror(file))
		return fail(r, "cannot be read: %s", strerror(errno));
	for (size_t i = 0; i < N_KEYS; i++)
		if (!lines[i])
			return fail(r, "the file ends and %s is missing", keys[i].name);
	return 0;
}

int machine_file_read(struct cachesim_machine *machine, const char *path, char *error,
		      size_t size)
{
	struct reader r = { .path = path, .error = error, .size = size };
	FILE *file = fopen(path, "re");
	int result;

	if (!file) {
		snprintf(error, size, "%s: %s; name a machine's file such as "
			 "userspace/cachesim/presets/rx4640.toml", path, strerror(errno));
		return -1;
	}
	memset(machine, 0, sizeof(*machine));
	result = read_lines(&r, machine, file);
	fclose(file);
	return result;
}
