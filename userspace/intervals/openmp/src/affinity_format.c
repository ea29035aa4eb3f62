// SPDX-License-Identifier: LGPL-2.1-or-later
/* omp_display_affinity() and OMP_DISPLAY_AFFINITY (OpenMP 5.0, 6.14). */
#include <ctype.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "env.h"

#define STANDARD "level %L thread %i affinity %A"

static char *format;

/* Text, cut off at `room`, and its full length. */
struct text {
	char *at;
	size_t room, length;
};

const char *gomp_affinity_format(void)
{
	return format ? format : STANDARD;
}

static void put(struct text *text, char c)
{
	if (text->length + 1 < text->room)
		text->at[text->length] = c;
	text->length++;
}

static const struct {
	const char *word;
	char letter;
} fields[] = {
	{ "team_num", 't' }, { "num_teams", 'T' }, { "nesting_level", 'L' },
	{ "thread_num", 'n' }, { "num_threads", 'N' }, { "ancestor_tnum", 'a' }, { "host", 'H' },
	{ "process_id", 'P' }, { "native_thread_id", 'i' }, { "thread_affinity", 'A' },
};

/* The thread's CPUs, as in 0-3,8. */
static void affinity(char *buffer, size_t room)
{
	struct text text = { buffer, room, 0 };
	cpu_set_t set;

	CPU_ZERO(&set);
	pthread_getaffinity_np(pthread_self(), sizeof(set), &set);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		char part[64];
		size_t last = cpu;

		if (!CPU_ISSET(cpu, &set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
			last++;
		snprintf(part, sizeof(part), last > cpu ? "%s%zu-%zu" : "%s%zu",
			 text.length ? "," : "", cpu, last);
		for (const char *c = part; *c; c++)
			put(&text, *c);
		cpu = last;
	}
	buffer[text.length < room ? text.length : room - 1] = 0;
}

static void value(char letter, char *buffer, size_t room)
{
	switch (letter) {
	case 't':
		snprintf(buffer, room, "%d", omp_get_team_num());
		break;
	case 'T':
		snprintf(buffer, room, "%d", omp_get_num_teams());
		break;
	case 'L':
		snprintf(buffer, room, "%d", omp_get_level());
		break;
	case 'n':
		snprintf(buffer, room, "%d", omp_get_thread_num());
		break;
	case 'N':
		snprintf(buffer, room, "%d", omp_get_num_threads());
		break;
	case 'a':
		snprintf(buffer, room, "%d", omp_get_ancestor_thread_num(omp_get_level() - 1));
		break;
	case 'H':
		gethostname(buffer, room);
		break;
	case 'P':
		snprintf(buffer, room, "%d", (int)getpid());
		break;
	case 'i':
		snprintf(buffer, room, "%d", (int)gettid());
		break;
	case 'A':
		affinity(buffer, room);
		break;
	default:
		gomp_fatal("OMP_AFFINITY_FORMAT: unknown field \"%c\"", letter);
	}
}

static void put_field(struct text *text, const char **next)
{
	const char *at = *next;
	bool zero = false, right = false;
	char buffer[1024] = "", letter;
	size_t width = 0, length;

	if (*at == '0') {
		zero = true;
		if (*++at != '.')
			gomp_fatal("OMP_AFFINITY_FORMAT: a dot must follow the 0 of a field");
	}
	if (*at == '.') {
		right = true;
		at++;
	}
	while (isdigit((unsigned char)*at))
		width = 10 * width + (size_t)(*at++ - '0');
	letter = *at;
	if (*at == '{') {
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
			length = strlen(fields[i].word);
			if (!strncmp(at + 1, fields[i].word, length) && at[1 + length] == '}') {
				letter = fields[i].letter;
				at += 1 + length;
				break;
			}
		}
	}
	if (*at)
		at++;
	*next = at;
	value(letter, buffer, sizeof(buffer));
	length = strlen(buffer);
	/* Only numbers are padded with zeroes, after the sign. */
	zero = zero && right && !strchr("HA", letter);
	if (zero && *buffer == '-')
		put(text, '-');
	for (size_t i = length; right && i < width; i++)
		put(text, zero ? '0' : ' ');
	for (size_t i = zero && *buffer == '-'; i < length; i++)
		put(text, buffer[i]);
	for (size_t i = length; !right && i < width; i++)
		put(text, ' ');
}

GOMP_PUBLIC size_t omp_capture_affinity(char *buffer, size_t room, const char *wanted)
{
	struct text text = { buffer, room, 0 };
	const char *at = wanted && *wanted ? wanted : gomp_affinity_format();

	while (*at) {
		if (*at != '%') {
			put(&text, *at++);
		} else if (at[1] == '%') {
			put(&text, '%');
			at += 2;
		} else {
			at++;
			put_field(&text, &at);
		}
	}
	if (room)
		buffer[text.length < room ? text.length : room - 1] = 0;
	return text.length;
}

GOMP_PUBLIC void omp_display_affinity(const char *wanted)
{
	const size_t room = omp_capture_affinity(NULL, 0, wanted) + 1;
	char *line = gomp_allocate(room);

	omp_capture_affinity(line, room, wanted);
	fprintf(stderr, "%s\n", line);
	free(line);
}

GOMP_PUBLIC void omp_set_affinity_format(const char *wanted)
{
	free(format);
	format = strdup(wanted);
	if (!format)
		gomp_fatal("out of memory for an affinity format");
}

GOMP_PUBLIC size_t omp_get_affinity_format(char *buffer, size_t room)
{
	const char *now = gomp_affinity_format();

	if (room)
		snprintf(buffer, room, "%s", now);
	return strlen(now);
}

void gomp_affinity_display(struct member *self)
{
	if (!gomp_environment.display_affinity || self->displayed)
		return;
	self->displayed = true;
	omp_display_affinity(NULL);
}

__attribute__((constructor)) static void read_format(void)
{
	const char *wanted = getenv("OMP_AFFINITY_FORMAT");

	if (wanted)
		omp_set_affinity_format(wanted);
}
