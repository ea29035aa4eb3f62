// SPDX-License-Identifier: GPL-2.0
/* fast-stat: counts a program's events, by the names that all counter backends share. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "command.h"
#include "counters.h"
#include "cpus.h"
#include "document.h"
#include "partition.h"
#include "report.h"
#include "session.h"

/* Any CPU can count this many at once. */
#define DEFAULT_EVENTS (ALL_SOFTWARE | COUNTER_BIT(CYCLES) | COUNTER_BIT(INSTRUCTIONS) | \
			COUNTER_BIT(L2_REFERENCES) | COUNTER_BIT(L2_MISSES))

#define MAX_REPEAT 10000

struct options {
	unsigned int wanted;
	unsigned int repeat;
	bool user_only;
	bool threads;
	bool list;
	bool groups;
	bool confined;		/* to @cpus; else they are all that it may use */
	cpu_set_t cpus;
	struct command command;
};

static const struct argp_option argp_options[] = {
	{ "events", 'e', "NAME,...", 0,
	  "count these: cycles, instructions, l2_references, l2_misses, l3_references, l3_misses, "
	  "bus_requests, cache_to_cache; context_switches, migrations, task_clock, page_faults; "
	  "or hardware, software, all, none (default: software, cycles, instructions and the "
	  "events of the L2)", 0 },
	{ "cpus", 'c', "LIST", 0,
	  "confine the program to these CPUs, such as 2-5,8, and take them for it alone where that "
	  "is allowed (root, cgroup v2)", 0 },
	{ "threads", 't', NULL, 0,
	  "count hardware events of the program's threads, not of its CPUs: a switch of threads "
	  "takes longer then, in a virtual machine by 100 us", 0 },
	{ "repeat", 'r', "N", 0, "run the program so often, one after the other, and print means and "
	  "their standard deviations; the first run that fails ends it (default: 1)", 0 },
	{ "roi", COMMAND_ROI, NULL, 0,
	  "count between the program's region-of-interest markers only (userspace/roi/roi.h)", 0 },
	{ "user", 'u', NULL, 0, "count user space only, not the kernel", 0 },
	{ "json", 'j', "FILE", 0, "write the counts to FILE, one JSON object on one line for each run, "
	  "and no table", 0 },
	{ "groups", 'g', NULL, 0,
	  "split the hardware events of --events into groups that this CPU can count at once, "
	  "print a line for each, and exit", 0 },
	{ "list", 'l', NULL, 0, "list the events that stand for the names on this CPU, "
	  "and exit", 0 },
	{ 0 }
};

static unsigned int parse_repeat(const char *arg, const struct argp_state *state)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(arg, &end, 10);
	if (errno || *end || end == arg || *arg == '-' || !number || number > MAX_REPEAT)
		argp_error(state, "--repeat %s: not a whole number of 1 to %d", arg, MAX_REPEAT);
	return (unsigned int)number;
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;
	char bad[64];

	command_check_value(arg, state);
	switch (key) {
	case 'e':
		opt->wanted = counters_parse(arg, bad, sizeof(bad));
		if (!opt->wanted && strcmp(arg, "none"))
			argp_error(state, "--events %s: \"%s\" is no name of an event; --help "
				   "lists them",
				   arg, bad);
		break;
	case 'c':
		if (cpus_parse(arg, &opt->cpus))
			argp_error(state, "--cpus %s: not a list of CPUs, such as 2-5,8", arg);
		opt->confined = true;
		break;
	case 't':
		opt->threads = true;
		break;
	case 'g':
		opt->groups = true;
		break;
	case 'r':
		opt->repeat = parse_repeat(arg, state);
		break;
	case 'u':
		opt->user_only = true;
		break;
	case 'l':
		opt->list = true;
		break;
	default:
		return command_parse(key, arg, state, &opt->command, !opt->list && !opt->groups);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_key,
	.args_doc = COMMAND_ARGUMENTS,
	.doc = "Counts events of a program, of all its threads and of all that it starts, and "
	       "prints the sums to standard error. Hardware events are counted on its CPUs, with "
	       "whatever else runs there.\v" COMMAND_STATUS("fast-stat"),
};

/* One program that is being counted. */
struct count {
	const struct options *opt;
	struct counters counters;
	struct session session;
	struct partition partition;
	char others[512];	/* why other programs may run on its CPUs, or "" */
};

/* All runs of the program. */
struct total {
	struct counters_result results[COUNTERS];	/* means; of one run what it gave */
	struct spread spreads[COUNTERS];
	struct spread elapsed;
};

/* A mean is not available if one run has no value. */
static void add(struct total *total, const struct counters_result results[COUNTERS],
		uint64_t elapsed_ns)
{
	bool first = !total->elapsed.runs;

	spread_add(&total->elapsed, (double)elapsed_ns);
	for (int i = 0; i < COUNTERS; i++) {
		struct counters_result *mean = &total->results[i];

		if (first)
			*mean = results[i];
		if (!mean->available)
			continue;
		if (!results[i].available) {
			*mean = results[i];
			continue;
		}
		spread_add(&total->spreads[i], (double)results[i].value);
		mean->value = (uint64_t)(total->spreads[i].mean + 0.5);
	}
}

static int enable(void *meter)
{
	struct count *c = meter;
	struct counters_error error;

	return counters_enable(&c->counters, &error) ? complain("%s", error.text) : 0;
}

static int disable(void *meter)
{
	struct count *c = meter;
	struct counters_error error;

	return counters_disable(&c->counters, &error) ? complain("%s", error.text) : 0;
}

/* A signal asked to end during this run: it is the last one, and belongs to no mean. */
static bool is_cut_short(const struct count *c)
{
	return c->opt->repeat > 1 && c->session.asked_to_end;
}

/* Each run has an object, the last one the table. */
static int tell(struct count *c, struct total *total, FILE *json)
{
	const struct options *opt = c->opt;
	bool by_cpu = opt->confined || !opt->threads;
	struct counters_result results[COUNTERS];
	struct counters_error error;
	char cpus[4096];
	struct report report = {
		.events = c->counters.events,
		.wanted = opt->wanted,
		.results = results,
		.session = &c->session,
		.cpus = by_cpu ? cpus : NULL,
		.others = by_cpu && *c->others ? c->others : NULL,
	};

	if (is_cut_short(c) && (json || !total->elapsed.runs))
		return 0;
	cpus_format(&opt->cpus, cpus, sizeof(cpus));
	if (counters_read(&c->counters, results, &error))
		return complain("%s", error.text);
	if (json) {
		report_json(json, &report);
		return document_flush(json, opt->command.json);
	}
	if (!is_cut_short(c))
		add(total, results, c->session.elapsed_ns);
	report.results = total->results;
	if (opt->repeat > 1) {
		report.spreads = total->spreads;
		report.elapsed = &total->elapsed;
	}
	if (total->elapsed.runs == opt->repeat || is_cut_short(c) ||
	    session_exit_status(&c->session))
		report_text(stderr, &report);
	return 0;
}

/* Confines the program to its CPUs. Other programs may run there: that is no failure. */
static int confine(struct count *c)
{
	const cpu_set_t *cpus = &c->opt->cpus;
	pid_t pid = c->session.child.pid;
	cpu_set_t allowed;

	if (!*c->others && partition_enter(&c->partition, pid))
		return complain("cannot move the program to its CPUs: %s", strerror(errno));
	if (sched_setaffinity(pid, sizeof(*cpus), cpus) ||
	    cpus_allowed(pid, &allowed))
		return complain("--cpus: %s; are these CPUs here, and online?", strerror(errno));
	if (!CPU_EQUAL(&allowed, cpus))
		return complain("--cpus: not all of these CPUs are here, online, and allowed "
				"(/proc/self/status, Cpus_allowed_list)");
	return 0;
}

/* Raises the limit of descriptors, which eight for each CPU may exceed; returns the old one. */
static struct rlimit raise_limit(void)
{
	struct rlimit before, raised;

	getrlimit(RLIMIT_NOFILE, &before);
	raised = before;
	raised.rlim_cur = raised.rlim_max;
	setrlimit(RLIMIT_NOFILE, &raised);
	return before;
}

/* The program has been started, and waits. */
static int run(struct count *c, const struct events *events, struct total *total, FILE *json)
{
	const struct options *opt = c->opt;
	const struct counters_target target = {
		.pid = c->session.child.pid,
		.cpus = opt->threads ? NULL : &opt->cpus,
	};
	struct counters_error error;
	int status = opt->confined ? confine(c) : 0;

	if (!status && counters_open(&c->counters, &counters_linux, events, opt->wanted, &target,
				     &error))
		status = complain("%s", error.text);
	if (status) {
		session_drop(&c->session);
		return status;
	}
	if (!opt->command.roi)
		status = enable(c);
	if (status)
		session_drop(&c->session);
	else
		status = session_run(&c->session);
	if (!status && !opt->command.roi)
		status = disable(c);
	if (!status) {
		status = tell(c, total, json);
		if (is_cut_short(c))
			status = EXIT_SIGNAL + c->session.asked_to_end;
		else
			status = session_exit_status(&c->session) ?: status;
	}
	counters_close(&c->counters);
	return status;
}

static int count(const struct options *opt, const struct events *events, struct total *total,
		 FILE *json)
{
	struct count c = {
		.opt = opt,
		.session = {
			.command = opt->command.program,
			.roi = opt->command.roi,
			.enable = enable,
			.disable = disable,
			.meter = &c,
		},
		.others = "no --cpus keeps other programs off them",
	};
	char cpus[4096];
	int status;

	cpus_format(&opt->cpus, cpus, sizeof(cpus));
	if (opt->confined && !partition_open(&c.partition, &partition_linux, cpus, c.others,
					     sizeof(c.others)))
		c.others[0] = '\0';
	status = session_start(&c.session);
	if (!status) {
		/* The next program, too, has the limit that we were given. */
		struct rlimit before = raise_limit();

		status = run(&c, events, total, json);
		setrlimit(RLIMIT_NOFILE, &before);
	}
	if (partition_close(&c.partition)) {
		complain("the CPUs' cgroup could not be removed: rmdir %s", c.partition.group);
		status = status ?: EXIT_OURS;
	}
	session_end(&c.session);
	/* The signal may have come after this run was reported. */
	if (!status && is_cut_short(&c))
		status = EXIT_SIGNAL + c.session.asked_to_end;
	return status;
}

static int count_all(const struct options *opt, const struct events *events, FILE *json)
{
	struct total total = { 0 };
	int status = 0;

	for (unsigned int i = 0; i < opt->repeat && !status; i++)
		status = count(opt, events, &total, json);
	return status;
}

/* The process on which hardware events are tried if there is no program. */
static struct counters_target nothing(const struct options *opt)
{
	return (struct counters_target){ .cpus = opt->threads ? NULL : &opt->cpus };
}

static int list(const struct options *opt, const struct events *events)
{
	const struct counters_target target = nothing(opt);
	unsigned int groups[HARDWARE_COUNTERS];
	struct counters_error error;

	raise_limit();
	report_events(stdout, events);
	if (counters_split(&counters_linux, events, ALL_HARDWARE, &target, groups, &error) < 0)
		printf("\nhardware events cannot be counted here: %s\n", error.text);
	else
		puts("\nhardware events can be counted here");
	return document_flush(stdout, "the standard output");
}

static int groups(const struct options *opt, const struct events *events)
{
	const struct counters_target target = nothing(opt);
	unsigned int groups[HARDWARE_COUNTERS];
	struct counters_error error;
	int count;

	raise_limit();
	count = counters_split(&counters_linux, events, opt->wanted, &target, groups, &error);
	if (count < 0)
		return complain("%s", error.text);
	for (int i = 0; i < count; i++) {
		report_set(stdout, groups[i]);
		putchar('\n');
	}
	return document_flush(stdout, "the standard output");
}

int main(int argc, char **argv)
{
	struct options opt = { .wanted = DEFAULT_EVENTS, .repeat = 1 };
	struct events events;
	char error[256];
	FILE *json = NULL;
	int status;

	command_guard_streams();
	argp_err_exit_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &opt);
	if (!opt.confined && !opt.threads && cpus_allowed(0, &opt.cpus))
		return complain("cannot find out which CPUs the program may use: %s; name them "
				"(--cpus), or count by thread (--threads)", strerror(errno));
	if (events_resolve(&events, NULL, opt.user_only, error, sizeof(error)))
		return complain("%s", error);
	if (opt.list) {
		status = list(&opt, &events);
	} else if (opt.groups) {
		status = groups(&opt, &events);
	} else {
		status = document_open(&json, opt.command.json) ?: count_all(&opt, &events, json);
		if (json)
			fclose(json);
	}
	events_free(&events);
	return status;
}
