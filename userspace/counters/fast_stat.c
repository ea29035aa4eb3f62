// SPDX-License-Identifier: GPL-2.0
/* fast-stat: counts a program's events, by the names that all counter backends share. */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "control.h"
#include "counters.h"
#include "report.h"

/* As env, nice and timeout have it: these are ours, all others the program's. */
#define EXIT_OURS 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNAL 128

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

__attribute__((format(printf, 1, 2)))
static int complain(const char *format, ...)
{
	va_list arguments;

	fputs("fast-stat: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return EXIT_OURS;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One program that is being counted. */
struct session {
	const struct options *opt;
	struct counters counters;
	struct control control;
	struct child child;
	int signals;
	bool inside;		/* a region of interest, or the program, is being counted */
	unsigned int regions;
	uint64_t begun;
	uint64_t elapsed;
};

/*
 * A terminal sends ^C and ^\ to the program, too: its end is what we wait for.
 * Who asks only us to end means both.
 */
static int take_signals(void)
{
	sigset_t forwarded;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&forwarded);
	sigaddset(&forwarded, SIGTERM);
	sigaddset(&forwarded, SIGHUP);
	sigprocmask(SIG_BLOCK, &forwarded, NULL);
	return signalfd(-1, &forwarded, SFD_CLOEXEC);
}

static void forward_signal(const struct session *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) == sizeof(info))
		kill(s->child.pid, (int)info.ssi_signo);
}

static int obey(struct session *s, enum control_command command)
{
	struct counters_error error;

	switch (command) {
	case CONTROL_ENABLE:
		if (s->inside)
			return complain("the program began a region of interest inside another");
		if (counters_enable(&s->counters, &error))
			return complain("%s", error.text);
		s->inside = true;
		s->begun = now_ns();
		return 0;
	case CONTROL_DISABLE:
		if (!s->inside)
			return complain("the program ended a region of interest that it had not "
					"begun");
		s->elapsed += now_ns() - s->begun;
		if (counters_disable(&s->counters, &error))
			return complain("%s", error.text);
		s->inside = false;
		s->regions++;
		return 0;
	default:
		return complain("the program sent \"%s\" through FAST_PERF_CTL, which is neither "
				"enable nor disable", s->control.line);
	}
}

/* 1: the pipe is closed. */
static int serve(struct session *s)
{
	enum control_command command;
	int status;

	if (control_read(&s->control, &command))
		return complain("cannot read the program's markers: %s", strerror(errno));
	if (command == CONTROL_CLOSED)
		return 1;
	if (command == CONTROL_NONE)
		return 0;
	status = obey(s, command);
	if (!status && control_ack(&s->control))
		status = complain("cannot answer the program's marker: %s", strerror(errno));
	return status;
}

/* Until the program has ended. Its last marker is served before its end is seen. */
static int attend(struct session *s)
{
	struct pollfd fds[] = {
		{ .fd = s->opt->roi ? s->control.commands : -1, .events = POLLIN },
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->child.pidfd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return complain("poll: %s", strerror(errno));
		}
		if (fds[1].revents)
			forward_signal(s);
		if (fds[0].revents) {
			int status = serve(s);

			if (status > 1)
				return status;
			if (status)
				fds[0].fd = -1;
		} else if (fds[2].revents) {
			return 0;
		}
	}
}

static int cannot_run(const struct options *opt, int number)
{
	complain("cannot run %s: %s", opt->command[0], strerror(number));
	return number == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? EXIT_SIGNAL + WTERMSIG(wait_status) :
	       WEXITSTATUS(wait_status);
}

/* What an incomplete region leaves is no result. */
static int check_regions(const struct session *s)
{
	if (s->inside)
		return complain("the program ended inside a region of interest: "
				"nothing is reported");
	if (!s->regions)
		return complain("the program gave no marker of a region of interest: it ended "
				"before it, or knows nothing of userspace/roi/roi.h (then count it "
				"all, without --roi)");
	return 0;
}

static int write_json(FILE *json, const struct report *report, const char *name)
{
	report_json(json, report);
	if (fflush(json) || ferror(json))
		return complain("cannot write %s: %s", name, strerror(errno));
	return 0;
}

static int tell(struct session *s, FILE *json, int wait_status)
{
	const struct options *opt = s->opt;
	struct counters_result results[COUNTERS];
	struct counters_error error;
	const struct report report = {
		.events = s->counters.events,
		.wanted = opt->wanted,
		.results = results,
		.roi = opt->roi,
		.regions = s->regions,
		.elapsed_ns = s->elapsed,
		.wait_status = wait_status,
	};

	if (opt->roi && check_regions(s))
		return EXIT_OURS;
	if (counters_read(&s->counters, results, &error))
		return complain("%s", error.text);
	report_scaled(stderr, &report);
	if (json)
		return write_json(json, &report, opt->json);
	report_text(stderr, &report);
	return 0;
}

/* The program waits to be let go, and its counters are open. */
static int count(struct session *s, FILE *json)
{
	int number, status, wait_status;

	s->signals = take_signals();
	if (s->signals < 0) {
		child_drop(&s->child);
		return complain("signalfd: %s", strerror(errno));
	}
	s->begun = now_ns();
	number = child_go(&s->child);
	if (number) {
		child_wait(&s->child);
		return cannot_run(s->opt, number);
	}
	status = attend(s);
	if (status)
		kill(s->child.pid, SIGKILL);
	wait_status = child_wait(&s->child);
	if (status)
		return status;
	if (!s->opt->roi)
		s->elapsed = now_ns() - s->begun;
	status = tell(s, json, wait_status);
	return exit_status(wait_status) ?: status;
}

static int start(const struct options *opt, const struct events *events, FILE *json)
{
	struct session s = { .opt = opt };
	struct counters_error error;
	int status;

	if (opt->roi && (control_open(&s.control) || control_announce(&s.control)))
		return complain("cannot make the pipes of FAST_PERF_CTL: %s", strerror(errno));
	if (child_start(&s.child, opt->command))
		return complain("cannot start a process: %s", strerror(errno));
	if (opt->roi)
		control_hand_over(&s.control);
	if (counters_open(&s.counters, &counters_linux, events, opt->wanted, s.child.pid,
			  opt->roi ? COUNT_WHEN_ENABLED : COUNT_FROM_EXEC, &error)) {
		child_drop(&s.child);
		return complain("%s", error.text);
	}
	status = count(&s, json);
	counters_close(&s.counters);
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
		/* Before the program has run for an hour, not after. */
		if (opt.json)
			json = fopen(opt.json, "we");
		if (opt.json && !json)
			status = complain("cannot write %s: %s", opt.json, strerror(errno));
		else
			status = start(&opt, &events, json);
		if (json)
			fclose(json);
	}
	events_free(&events);
	return status;
}
