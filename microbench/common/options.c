// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list.h"
#include "options.h"

#define EXIT_USAGE 2

/* The paper's runs range "from 200,000 to 16 million" iterations (section 3.2.1). */
#define DEFAULT_ITERATIONS 200000
#define MAX_ITERATIONS 1000000000
#define WARMUP_PART 10	/* the default warm-up is a tenth of the iterations */

/*
 * Sixteen lines make a critical section that is worth moving a thread for and
 * fit any first-level cache; the paper's counter, one line, is --cs-lines 1.
 */
#define DEFAULT_CS_LINES 16
#define MAX_CS_LINES 1024

/*
 * About a thousand instructions, some ten times as many as in the critical section:
 * significant work, and yet few enough that four CPUs contend for the lock.
 */
#define DEFAULT_THINK 100
#define MAX_THINK 1000000

/* One for each processor of the paper's machine (table 1). */
#define MAX_DEFAULT_LOCKS 4

#define MIN_LINE 32
#define MAX_LINE 1024

enum key {
	KEY_THREADS = 't', KEY_ITERATIONS = 'n', KEY_WARMUP = 'w', KEY_SEED = 's',
	KEY_CS_LINES = 0x100, KEY_THINK, KEY_LOCKS, KEY_LINE, KEY_JSON, KEY_LIST,
};

static const struct argp_option argp_options[] = {
	{ "threads", KEY_THREADS, "N", 0, "threads, 1 to 1024 (default: one per CPU)", 0 },
	{ "iterations", KEY_ITERATIONS, "N", 0,
	  "counted iterations, in TOTAL over all threads, which share them evenly: the work is "
	  "the same at every thread count (default 200000)", 0 },
	{ "warmup", KEY_WARMUP, "N", 0,
	  "iterations before counting begins, also a total (default: a tenth of --iterations)", 0 },
	{ "cs-lines", KEY_CS_LINES, "N", 0,
	  "cache lines of shared data that each critical section touches, 1 to 1024 (default 16)", 0 },
	{ "think", KEY_THINK, "N", 0,
	  "mean random work between two locking operations, in steps of a register-only random "
	  "number generator, 0 to 1000000 (default 100)", 0 },
	{ "locks", KEY_LOCKS, "N", 0,
	  "locks, where the benchmark has several: 1 to one per thread, or per "
	  "producer/consumer pair (default 4, or as many as that allows)", 0 },
	{ "seed", KEY_SEED, "N", 0, "seed of the random work, 0 to 4294967295 (default 1)", 0 },
	{ "line", KEY_LINE, "BYTES", 0,
	  "cache line to pad for, a power of two from 32 to 1024 (default: this machine's, "
	  "at least 128)", 0 },
	{ "json", KEY_JSON, NULL, 0, "print the result as one JSON object on one line", 0 },
	{ "list", KEY_LIST, NULL, 0, "list the seven microbenchmarks and exit", 0 },
	{ 0 }
};

/* What the command line left open is found out only once it has all been read. */
struct parse {
	const struct bench *bench;
	struct options opt;
	bool has_warmup;
	bool has_locks;
};

/* argp_error() does not return. */
uint64_t options_number(struct argp_state *state, const char *name, const char *text,
			uint64_t min, uint64_t max)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value < min || value > max)
		argp_error(state, "--%s %s: must be a whole number from %" PRIu64 " to %" PRIu64,
			   name, text, min, max);
	return value;
}

static unsigned int line_size(struct argp_state *state, const char *text)
{
	uint64_t line = options_number(state, "line", text, MIN_LINE, MAX_LINE);

	if (line & (line - 1))
		argp_error(state, "--line %s: must be a power of two from %d to %d", text,
			   MIN_LINE, MAX_LINE);
	return (unsigned int)line;
}

/*
 * At least 128: prefetchers fetch lines of 64 bytes in pairs, and the modelled
 * second and third level caches have lines of 128 bytes.
 */
static unsigned int default_line(void)
{
	long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);

	return line > 128 && line <= MAX_LINE && !(line & (line - 1)) ? (unsigned int)line : 128;
}

unsigned int options_default_threads(unsigned int group)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int threads = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (unsigned int)cpus;

	return threads < group ? group : threads / group * group;
}

static void check_total(struct argp_state *state, const char *name, uint64_t total,
			const struct options *opt)
{
	if (total % opt->group)
		argp_error(state, "--%s %" PRIu64 ": must be even, since the threads of %s work in "
			   "pairs", name, total, state->name);
}

/* At least two threads per lock: a lock of one thread is not contended. */
static unsigned int default_locks(unsigned int threads)
{
	unsigned int locks = threads / 2;

	if (locks > MAX_DEFAULT_LOCKS)
		return MAX_DEFAULT_LOCKS;
	return locks ? locks : 1;
}

static void settle(struct argp_state *state, struct parse *parse)
{
	struct options *opt = &parse->opt;
	unsigned int max_locks;

	if (!opt->threads)
		opt->threads = options_default_threads(opt->group);
	if (opt->threads % opt->group)
		argp_error(state, "--threads %u: must be an even number from 2 to %d, since the "
			   "threads of %s work in pairs", opt->threads, MAX_THREADS, state->name);

	check_total(state, "iterations", opt->iterations, opt);
	if (opt->iterations < opt->threads)
		argp_error(state, "--iterations %" PRIu64 ": must be from %u (one for each of the "
			   "--threads) to %d", opt->iterations, opt->threads, MAX_ITERATIONS);
	if (!parse->has_warmup)
		opt->warmup = opt->iterations / WARMUP_PART / opt->group * opt->group;
	check_total(state, "warmup", opt->warmup, opt);

	max_locks = parse->bench->fixed_locks ?: opt->threads / opt->group;
	if (!parse->has_locks)
		opt->locks = parse->bench->fixed_locks ?: default_locks(opt->threads);
	if (parse->bench->fixed_locks && opt->locks != max_locks)
		argp_error(state, "--locks %u: %s always has %u", opt->locks, state->name, max_locks);
	if (opt->locks > max_locks)
		argp_error(state, "--locks %u: must be from 1 to %u (one for each %s of --threads %u)",
			   opt->locks, max_locks, opt->group == 2 ? "pair" : "thread", opt->threads);
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct options *opt = &parse->opt;

	switch (key) {
	case KEY_THREADS:
		opt->threads = (unsigned int)options_number(state, "threads", arg, 1, MAX_THREADS);
		break;
	case KEY_ITERATIONS:
		opt->iterations = options_number(state, "iterations", arg, 1, MAX_ITERATIONS);
		break;
	case KEY_WARMUP:
		opt->warmup = options_number(state, "warmup", arg, 0, MAX_ITERATIONS);
		parse->has_warmup = true;
		break;
	case KEY_CS_LINES:
		opt->cs_lines = (unsigned int)options_number(state, "cs-lines", arg, 1, MAX_CS_LINES);
		break;
	case KEY_THINK:
		opt->think = (unsigned int)options_number(state, "think", arg, 0, MAX_THINK);
		break;
	case KEY_LOCKS:
		opt->locks = (unsigned int)options_number(state, "locks", arg, 1, MAX_THREADS);
		parse->has_locks = true;
		break;
	case KEY_SEED:
		opt->seed = options_number(state, "seed", arg, 0, UINT32_MAX);
		break;
	case KEY_LINE:
		opt->line = line_size(state, arg);
		break;
	case KEY_JSON:
		opt->json = true;
		break;
	case KEY_LIST:
		list_print();
		exit(0);
	case ARGP_KEY_ARG:
		argp_error(state, "%s: takes options only", arg);
		break;
	case ARGP_KEY_END:
		settle(state, parse);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct options options_parse(const struct bench *bench, int argc, char **argv)
{
	struct parse parse = {
		.bench = bench,
		.opt = {
			.group = bench->paired ? 2 : 1,
			.iterations = DEFAULT_ITERATIONS,
			.cs_lines = DEFAULT_CS_LINES,
			.think = DEFAULT_THINK,
			.line = default_line(),
			.seed = 1,
		},
	};
	const struct argp argp = {
		.options = argp_options,
		.parser = parse_key,
		.doc = bench->description ?: list_description(bench->name),
	};

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &parse);
	return parse.opt;
}
