// SPDX-License-Identifier: LGPL-2.1-or-later
#include "env.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "affinity.h"
#include "alloc.h"
#include "display.h"
#include "other_libraries.h"

#define LEAST_STACK (64 << 10)
#define MOST_CPUS (1 << 20)
/* Polls before sleeping: with a CPU per thread, and oversubscribed. */
#define SPINS 20000
#define SPINS_OVERSUBSCRIBED 100
#define SPINS_ACTIVE 20000000
#define SPINS_ACTIVE_OVERSUBSCRIBED 1000

struct environment gomp_environment;

static struct complaint {
	const char *name, *value, *what;
} complaints[32];
static unsigned int complaints_count;

void gomp_complain(const char *name, const char *value, const char *what)
{
	if (complaints_count < sizeof(complaints) / sizeof(*complaints))
		complaints[complaints_count++] = (struct complaint){ name, value, what };
}

static void complain(const char *name, const char *value)
{
	gomp_complain(name, value, GOMP_NO_VALUE);
}

void gomp_environment_used(void)
{
	gomp_places_init();
	gomp_display_init();
	for (unsigned int i = 0; i < complaints_count; i++)
		fprintf(stderr, "libintervals-gomp: %s: \"%s\" %s\n", complaints[i].name,
			complaints[i].value, complaints[i].what);
	gomp_warn_of_other_libraries();
}

void gomp_skip_blanks(const char **text)
{
	while (isspace((unsigned char)**text))
		(*text)++;
}

/* Accept a word in any case, and skip blanks. */
static bool accept(const char **text, const char *word)
{
	const size_t length = strlen(word);

	gomp_skip_blanks(text);
	if (strncasecmp(*text, word, length) || isalnum((unsigned char)(*text)[length]) ||
	    (*text)[length] == '_')
		return false;
	*text += length;
	gomp_skip_blanks(text);
	return true;
}

static bool parse_number(const char **text, unsigned long *value)
{
	char *end;

	gomp_skip_blanks(text);
	if (**text == '-')
		return false;
	errno = 0;
	*value = strtoul(*text, &end, 10);
	if (errno || end == *text)
		return false;
	*text = end;
	gomp_skip_blanks(text);
	return true;
}

static void number(const char *name, unsigned int least, unsigned int most, unsigned int *value)
{
	const char *text = getenv(name), *rest = text;
	unsigned long read;

	if (!text)
		return;
	if (!parse_number(&rest, &read) || *rest || read < least || read > most)
		complain(name, text);
	else
		*value = (unsigned int)read;
}

static bool boolean(const char *name, bool *value)
{
	const char *text = getenv(name), *rest = text;

	if (!text)
		return false;
	if (accept(&rest, "true") && !*rest)
		*value = true;
	else if (accept(&rest, "false") && !*rest)
		*value = false;
	else
		complain(name, text);
	return true;
}

/* A list with a value for each level. Returns how many are in `values`; 0: none, or a wrong one. */
static unsigned int list(const char *name, bool (*parse)(const char **text, unsigned int *value),
			 unsigned int values[GOMP_LEVELS])
{
	const char *text = getenv(name), *rest = text;
	unsigned int count = 0, value;

	if (!text)
		return 0;
	do {
		if (!parse(&rest, &value)) {
			complain(name, text);
			return 0;
		}
		if (count < GOMP_LEVELS)
			values[count++] = value;
	} while (*rest++ == ',');
	if (!rest[-1])
		return count;
	complain(name, text);
	return 0;
}

static bool parse_threads(const char **text, unsigned int *threads)
{
	unsigned long value;

	if (!parse_number(text, &value) || !value || value > INT_MAX)
		return false;
	*threads = (unsigned int)value;
	return true;
}

static void schedule(struct icv *icv)
{
	static const char *const words[] = { "static", "dynamic", "guided", "auto" };
	const char *text = getenv("OMP_SCHEDULE"), *rest = text;
	unsigned int modifier = 0, kind = SCHEDULE_RUNTIME;
	unsigned long chunk = 0;
	bool monotonic, non;

	icv->schedule = SCHEDULE_DYNAMIC;
	icv->chunk = 1;
	if (!text)
		return;
	monotonic = accept(&rest, "monotonic");
	non = !monotonic && accept(&rest, "nonmonotonic");
	if ((monotonic || non) && *rest++ != ':') {
		complain("OMP_SCHEDULE", text);
		return;
	}
	for (unsigned int i = 0; i < 4 && !kind; i++)
		if (accept(&rest, words[i]))
			kind = SCHEDULE_STATIC + i;
	/* Static is monotonic by default. */
	if (monotonic || (kind == SCHEDULE_STATIC && !non))
		modifier = SCHEDULE_MONOTONIC;
	if (!kind || (*rest == ',' && (rest++, !parse_number(&rest, &chunk))) || *rest ||
	    chunk > INT_MAX) {
		complain("OMP_SCHEDULE", text);
		return;
	}
	icv->schedule = kind | modifier;
	icv->chunk = chunk ? (long)chunk : kind != SCHEDULE_STATIC;
}

static bool parse_bind(const char **text, unsigned int *bind)
{
	static const char *const words[] = { "false", "true", "master", "close", "spread",
					     "primary" };

	for (unsigned int i = 0; i < 6; i++)
		if (accept(text, words[i])) {
			*bind = i == 5 ? omp_proc_bind_primary : i;
			return true;
		}
	return false;
}

static void stack(struct environment *environment)
{
	static const char *const names[] = { "OMP_STACKSIZE", "GOMP_STACKSIZE" };
	struct rlimit limit;

	environment->stack_bytes = 8 << 20;
	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		environment->stack_bytes = limit.rlim_cur;
	for (int i = 0; i < 2; i++) {
		const char *text = getenv(names[i]), *rest = text;
		unsigned long value;
		int shift = 10;

		if (!text)
			continue;
		if (parse_number(&rest, &value)) {
			shift = accept(&rest, "b") ? 0 : accept(&rest, "m") ? 20 :
				accept(&rest, "g") ? 30 : (accept(&rest, "k"), 10);
			if (!*rest && value && value <= SIZE_MAX >> shift) {
				environment->stack_asked = value << shift;
				environment->stack_bytes = environment->stack_asked;
				if (environment->stack_bytes < LEAST_STACK)
					gomp_complain(names[i], text, "is too little; using 64k");
				break;
			}
		}
		complain(names[i], text);
	}
	if (environment->stack_bytes < LEAST_STACK)
		environment->stack_bytes = LEAST_STACK;
}

/* A number with a unit of thousands, millions and so on; or infinite. */
static bool parse_spins(const char *text, unsigned int *spins)
{
	static const char *const units[] = { "k", "m", "g", "t" };
	unsigned long value;

	if (accept(&text, "infinite") || accept(&text, "infinity")) {
		value = UINT_MAX;
	} else {
		unsigned long unit = 1, factor = 1000;

		if (!parse_number(&text, &value))
			return false;
		for (int i = 0; i < 4; i++, factor *= 1000)
			if (accept(&text, units[i]))
				unit = factor;
		value = value > UINT_MAX / unit ? UINT_MAX : value * unit;
	}
	*spins = (unsigned int)value;
	return !*text;
}

static void waiting(struct environment *environment)
{
	const char *text = getenv("OMP_WAIT_POLICY"), *rest = text;
	const char *count = getenv("GOMP_SPINCOUNT");
	unsigned int spins;

	environment->spins = SPINS;
	environment->spins_oversubscribed = SPINS_OVERSUBSCRIBED;
	if (text && accept(&rest, "active") && !*rest) {
		environment->active = true;
		environment->spins = SPINS_ACTIVE;
		environment->spins_oversubscribed = SPINS_ACTIVE_OVERSUBSCRIBED;
	} else if (text && accept(&rest, "passive") && !*rest) {
		environment->spins = 0;
	} else if (text) {
		complain("OMP_WAIT_POLICY", text);
	}
	if (count && parse_spins(count, &spins))
		environment->spins = spins;
	else if (count)
		complain("GOMP_SPINCOUNT", count);
	if (environment->spins_oversubscribed > environment->spins)
		environment->spins_oversubscribed = environment->spins;
}

static void offload(struct environment *environment)
{
	static const char *const words[] = { "default", "mandatory", "disabled" };
	const char *text = getenv("OMP_TARGET_OFFLOAD"), *rest = text;
	unsigned char kind = OFFLOAD_DEFAULT;

	if (!text)
		return;
	while (kind <= OFFLOAD_DISABLED && !accept(&rest, words[kind]))
		kind++;
	if (kind <= OFFLOAD_DISABLED && !*rest)
		environment->offload = kind;
	else
		complain("OMP_TARGET_OFFLOAD", text);
}

static void levels(struct environment *environment)
{
	bool nested;

	environment->icv.max_active_levels = 1;
	if (environment->levels > 1 || environment->bind_levels > 1)
		environment->icv.max_active_levels = UINT_MAX >> 1;
	if (boolean("OMP_NESTED", &nested))
		environment->icv.max_active_levels = nested ? UINT_MAX >> 1 : 1;
	number("OMP_MAX_ACTIVE_LEVELS", 0, INT_MAX, &environment->icv.max_active_levels);
}

/* Single numbers. */
static void limits(struct environment *environment)
{
	unsigned int device = 0;

	environment->icv.thread_limit = UINT_MAX;
	number("OMP_THREAD_LIMIT", 1, UINT_MAX, &environment->icv.thread_limit);
	number("OMP_DEFAULT_DEVICE", 0, INT_MAX, &device);
	environment->icv.device = (int)device;
	number("OMP_MAX_TASK_PRIORITY", 0, INT_MAX, &environment->max_priority);
	number("OMP_NUM_TEAMS", 1, INT_MAX, &environment->teams);
	number("OMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, &environment->teams_limit);
}

/* The kernel wants room for all possible CPUs, whose number it does not tell. */
unsigned int gomp_count_cpus(void)
{
	for (size_t room = CPU_SETSIZE; room <= MOST_CPUS; room *= 2) {
		const size_t bytes = CPU_ALLOC_SIZE(room);
		cpu_set_t *set = CPU_ALLOC(room);
		int count = 0;

		if (!set)
			break;
		if (!sched_getaffinity(0, bytes, set))
			count = CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (count)
			return (unsigned int)count;
	}
	return 1;
}

/* Up to the highest allowed CPU, in whole words, as in libgomp. */
static long count_numbers(const cpu_set_t *allowed)
{
	const long word = CHAR_BIT * sizeof(long);
	long numbers = CPU_SETSIZE;

	while (numbers && !CPU_ISSET((size_t)numbers - 1, allowed))
		numbers--;
	return (numbers + word - 1) / word * word;
}

__attribute__((constructor)) static void read_environment(void)
{
	struct environment *environment = &gomp_environment;
	bool dynamic = false;

	environment->cpus = gomp_count_cpus();
	sched_getaffinity(0, sizeof(environment->allowed), &environment->allowed);
	environment->numbers = count_numbers(&environment->allowed);
	environment->levels = list("OMP_NUM_THREADS", parse_threads, environment->threads);
	environment->icv.threads = environment->levels ? environment->threads[0] :
							 environment->cpus;
	schedule(&environment->icv);
	environment->bind_levels = list("OMP_PROC_BIND", parse_bind, environment->binds);
	if (environment->bind_levels)
		environment->icv.bind = environment->binds[0];
	boolean("OMP_DYNAMIC", &dynamic);
	environment->icv.dynamic = dynamic;
	boolean("OMP_CANCELLATION", &environment->cancellation);
	boolean("OMP_DISPLAY_AFFINITY", &environment->display_affinity);
	levels(environment);
	limits(environment);
	stack(environment);
	waiting(environment);
	offload(environment);
	environment->icv.allocator = gomp_allocator_parse(getenv("OMP_ALLOCATOR"));
}
