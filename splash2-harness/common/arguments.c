// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "common/options.h"
#include "splash.h"

#define EXIT_REFUSED 2

#define COMMON_OPTIONS 4

/* A long option's key is its table's base plus its place in the table. */
enum {
	KEY_THREADS = 't',
	KEY_SEED = 's',
	KEY_JSON = 0x100,
	KEY_PROFILE,
	KEY_NUMBERS = 0x1000,
	KEY_REALS = 0x2000,
	KEY_WORDS = 0x3000,
};

struct parse {
	const struct splash_program *program;
	struct splash_options opt;
};

static const struct argp_option common_options[COMMON_OPTIONS] = {
	{ "threads", KEY_THREADS, "N", 0, "worker threads, 1 to 1024 (default: one per CPU)", 1 },
	{ "seed", KEY_SEED, "N", 0,
	  "seed of the generated input, and of when the phase begins, 0 to 4294967295 (default 1)", 1 },
	{ "json", KEY_JSON, NULL, 0, "print the result as one JSON object on one line", 1 },
	{ "profile", KEY_PROFILE, NULL, 0,
	  "measure the time that the threads wait at locks, barriers and flags", 1 },
};

static const char *program_name;

void splash_refuse(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_REFUSED);
}

static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *text(const char *format, ...)
{
	char *result;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&result, format, args);
	va_end(args);
	if (length < 0)
		splash_refuse("no memory for the text of --help");
	return result;
}

static size_t count_options(const struct splash_program *p)
{
	size_t count = COMMON_OPTIONS;

	for (const struct splash_number *n = p->numbers; n && n->name; n++)
		count++;
	for (const struct splash_real *r = p->reals; r && r->name; r++)
		count++;
	for (const struct splash_word *w = p->words; w && w->name; w++)
		count++;
	return count;
}

/* A name of one letter is a short option as well. */
static int key_of(int base, size_t place, const char *name)
{
	return name[1] ? base + (int)place : name[0];
}

/* argp's table, made from the program's tables. The process keeps it until its end. */
static struct argp_option *make_options(const struct splash_program *p)
{
	static struct argp_option *table;
	struct argp_option *o;

	table = o = calloc(count_options(p) + 1, sizeof(*table));
	if (!table)
		splash_refuse("no memory for the options");
	for (const struct splash_number *n = p->numbers; n && n->name; n++)
		*o++ = (struct argp_option){
			n->name, key_of(KEY_NUMBERS, (size_t)(n - p->numbers), n->name), "N", 0,
			text("%s, %" PRIu64 " to %" PRIu64 " (default %" PRIu64 ")", n->meaning,
			     n->min, n->max, *n->value), 0
		};
	for (const struct splash_real *r = p->reals; r && r->name; r++)
		*o++ = (struct argp_option){
			r->name, key_of(KEY_REALS, (size_t)(r - p->reals), r->name), "X", 0,
			text("%s, %g to %g (default %g)", r->meaning, r->min, r->max, *r->value), 0
		};
	for (const struct splash_word *w = p->words; w && w->name; w++)
		*o++ = (struct argp_option){
			w->name, key_of(KEY_WORDS, (size_t)(w - p->words), w->name), "WORD", 0,
			*w->value ? text("%s (default %s)", w->meaning, *w->value) : w->meaning, 0
		};
	for (size_t i = 0; i < COMMON_OPTIONS; i++)
		*o++ = common_options[i];
	return table;
}

/* argp_error() does not return. */
static double real(struct argp_state *state, const struct splash_real *r, const char *argument)
{
	char *end;
	double value = strtod(argument, &end);

	if (isspace((unsigned char)*argument) || end == argument || *end || !isfinite(value) ||
	    value < r->min || value > r->max)
		argp_error(state, "--%s %s: must be a number from %g to %g", r->name, argument,
			   r->min, r->max);
	return value;
}

static bool parse_own(const struct splash_program *p, int key, const char *argument,
		      struct argp_state *state)
{
	for (const struct splash_number *n = p->numbers; n && n->name; n++)
		if (key == key_of(KEY_NUMBERS, (size_t)(n - p->numbers), n->name)) {
			*n->value = options_number(state, n->name, argument, n->min, n->max);
			return true;
		}
	for (const struct splash_real *r = p->reals; r && r->name; r++)
		if (key == key_of(KEY_REALS, (size_t)(r - p->reals), r->name)) {
			*r->value = real(state, r, argument);
			return true;
		}
	for (const struct splash_word *w = p->words; w && w->name; w++)
		if (key == key_of(KEY_WORDS, (size_t)(w - p->words), w->name)) {
			*w->value = argument;
			return true;
		}
	return false;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct splash_options *opt = &parse->opt;

	switch (key) {
	case KEY_THREADS:
		opt->threads = (unsigned int)options_number(state, "threads", argument, 1,
							    SPLASH_MAX_THREADS);
		break;
	case KEY_SEED:
		opt->seed = options_number(state, "seed", argument, 0, UINT32_MAX);
		break;
	case KEY_JSON:
		opt->json = true;
		break;
	case KEY_PROFILE:
		opt->profile = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: takes options only", argument);
		break;
	default:
		return parse_own(parse->program, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct splash_options arguments_parse(const struct splash_program *which, int argc, char **argv)
{
	struct parse parse = {
		.program = which,
		.opt = { .threads = options_default_threads(1), .seed = 1 },
	};
	struct argp argp = { .parser = parse_key, .doc = which->about };

	program_name = which->name;
	argp.options = make_options(which);
	argp_err_exit_status = EXIT_REFUSED;
	argp_parse(&argp, argc, argv, 0, NULL, &parse);
	return parse.opt;
}
