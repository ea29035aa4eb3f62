// SPDX-License-Identifier: GPL-2.0
/* fast-stat: counts a program's events, by the names that all counter backends share. */
#include <argp.h>
#include <stdlib.h>

#include "counters.h"
#include "document.h"
#include "report.h"
#include "session.h"

struct options {
	unsigned int wanted;
	bool roi;
	bool user_only;
	bool list;
	const char *json;
	char **command;
};

static const struct argp_option argp_options[] = {
	{ "events", 'e', "NAME,...", 0,
	  "count these: cycles, instructions, l2_references, l2_misses, l3_references, l3_misses, "
	  "bus_requests, cache_to_cache; context_switches, migrations, task_clock, page_faults; "
	  "or hardware, software, all (default)", 0 },
	{ "roi", 'r', NULL, 0,
	  "count between the program's region-of-interest markers only (userspace/roi/roi.h)", 0 },
	{ "user", 'u', NULL, 0, "count user space only, not the kernel", 0 },
	{ "json", 'j', "FILE", 0, "write the counts to FILE as one JSON object on one line, and no "
	  "table", 0 },
	{ "list", 'l', NULL, 0, "list the events that stand for the names on this CPU, "
	  "and exit", 0 },
	{ 0 }
};

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;
	char bad[64];

	switch (key) {
	case 'e':
		opt->wanted = counters_parse(arg, bad, sizeof(bad));
		if (!opt->wanted)
			argp_error(state, "--events %s: \"%s\" is no name of an event; --help "
				   "lists them",
				   arg, bad);
		break;
	case 'r':
		opt->roi = true;
		break;
	case 'u':
		opt->user_only = true;
		break;
	case 'j':
		opt->json = arg;
		break;
	case 'l':
		opt->list = true;
		break;
	case ARGP_KEY_ARGS:
		opt->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		if (!opt->command && !opt->list)
			argp_error(state, "which program? fast-stat [OPTION...] -- PROGRAM "
				   "[ARGUMENT...]");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_key,
	.args_doc = "-- PROGRAM [ARGUMENT...]",
	.doc = "Counts events of a program, of all its threads and of all that it starts, and "
	       "prints the sums to standard error.\vIts exit status is the program's; 125 if "
	       "fast-stat failed, 126 or 127 if the program could not be run or found, 128 + N if "
	       "signal N killed it.",
};

/* One program that is being counted. */
struct count {
	const struct options *opt;
	struct counters counters;
	struct session session;
};

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

static int tell(struct count *c, FILE *json)
{
	const struct options *opt = c->opt;
	struct counters_result results[COUNTERS];
	struct counters_error error;
	const struct report report = {
		.events = c->counters.events,
		.wanted = opt->wanted,
		.results = results,
		.session = &c->session,
	};

	if (counters_read(&c->counters, results, &error))
		return complain("%s", error.text);
	report_scaled(stderr, &report);
	if (!json) {
		report_text(stderr, &report);
		return 0;
	}
	report_json(json, &report);
	return document_flush(json, opt->json);
}

static int count(const struct options *opt, const struct events *events, FILE *json)
{
	struct count c = {
		.opt = opt,
		.session = {
			.command = opt->command,
			.roi = opt->roi,
			.enable = enable,
			.disable = disable,
			.meter = &c,
		},
	};
	struct counters_error error;
	int status = session_start(&c.session);

	if (status)
		return status;
	if (counters_open(&c.counters, &counters_linux, events, opt->wanted, c.session.child.pid,
			  opt->roi ? COUNT_WHEN_ENABLED : COUNT_FROM_EXEC, &error)) {
		session_drop(&c.session);
		return complain("%s", error.text);
	}
	status = session_run(&c.session);
	if (!status) {
		status = tell(&c, json);
		status = session_exit_status(&c.session) ?: status;
	}
	counters_close(&c.counters);
	return status;
}

static int list(const struct events *events)
{
	struct counters counters;
	struct counters_error error;

	report_events(stdout, events);
	if (counters_open(&counters, &counters_linux, events, ALL_HARDWARE, 0, COUNT_WHEN_ENABLED,
			  &error)) {
		printf("\nhardware events cannot be counted here: %s\n", error.text);
		return 0;
	}
	puts("\nhardware events can be counted here");
	counters_close(&counters);
	return 0;
}

int main(int argc, char **argv)
{
	struct options opt = { .wanted = ALL_COUNTERS };
	struct events events;
	char error[256];
	FILE *json = NULL;
	int status;

	argp_err_exit_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &opt);
	if (events_resolve(&events, NULL, opt.user_only, error, sizeof(error)))
		return complain("%s", error);
	if (opt.list) {
		status = list(&events);
	} else {
		status = document_open(&json, opt.json) ?: count(&opt, &events, json);
		if (json)
			fclose(json);
	}
	events_free(&events);
	return status;
}
