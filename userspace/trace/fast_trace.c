// SPDX-License-Identifier: GPL-2.0
/*
 * fast-trace: records the scheduler's events while a program runs, and the futex calls that
 * caused them, as a trace.dat.
 *
 * Nothing reads the kernel's buffers until the program has ended, so only the tracepoints
 * disturb it. trace-cmd writes the file.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

#include "command.h"
#include "document.h"
#include "instance.h"
#include "session.h"

#define STRINGIFY(x) #x
#define TEXT(x) STRINGIFY(x)

#define STAT "/sys/kernel/debug/sched/fast/stat"
#define STAT_SIZE 4096
/* It writes the file, from the kernel's buffers. */
#define TRACE_CMD "trace-cmd"

struct options {
	bool print;
	size_t buffer_kb;	/* of each CPU; 0: by the memory that is available */
	const char *output;
	struct command command;
};

static const struct argp_option argp_options[] = {
	{ "roi", 'r', NULL, 0,
	  "between the program's region-of-interest markers only (userspace/roi/roi.h)", 0 },
	{ "output", 'o', "FILE", 0, "where to write the trace (trace.dat)", 0 },
	{ "json", 'j', "FILE", 0, "write how it ended, FAST's counters and the program's memory "
	  "map to FILE as one JSON object on one line", 0 },
	{ "buffer-kb", 'b', "KB", 0, "how large the kernel's buffer of each CPU is (65536, if an "
	  "eighth of the available memory is enough for all)", 0 },
	{ "print", 'p', NULL, 0,
	  "then print the trace in base64: out of a guest that shares no files", 0 },
	{ 0 }
};

static size_t parse_kb(const char *arg, const struct argp_state *state)
{
	unsigned long number;
	char *end;

	/* strtoul() would take blanks and signs, too. */
	errno = isdigit((unsigned char)*arg) ? 0 : EINVAL;
	number = strtoul(arg, &end, 10);
	/* The kernel takes it as bytes, for 64 bits. */
	if (errno || *end || !number || number > SIZE_MAX / 1024)
		argp_error(state, "--buffer-kb: '%s' is no whole number of at least 1", arg);
	return number;
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;

	command_check_value(arg, state);
	switch (key) {
	case 'r':
		opt->command.roi = true;
		break;
	case 'b':
		opt->buffer_kb = parse_kb(arg, state);
		break;
	case 'o':
		opt->output = arg;
		break;
	case 'p':
		opt->print = true;
		break;
	default:
		return command_parse(key, arg, state, &opt->command, true);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_key,
	.args_doc = COMMAND_ARGUMENTS,
	.doc = "Records what the scheduler does while a program runs, on all CPUs, and which futex "
	       "calls made it do so. Needs root and trace-cmd.\v" COMMAND_STATUS("fast-trace"),
};

static const struct event {
	const char *system, *name, *filter;
	bool optional;	/* only a kernel with FAST has it */
} events[] = {
	{ "sched", "sched_switch", NULL, false },
	{ "sched", "sched_waking", NULL, false },
	{ "sched", "sched_wakeup", NULL, false },
	{ "sched", "sched_wakeup_new", NULL, false },
	{ "sched", "sched_migrate_task", NULL, false },
	{ "sched", "sched_fast_hint", NULL, true },
	{ "sched", "sched_fast_wakeup", NULL, true },
	{ "sched", "sched_fast_balance", NULL, true },
	/* Unlike syscalls:sys_enter_futex every kernel has them that traces anything. */
	{ "raw_syscalls", "sys_enter", "id == " TEXT(SYS_futex), false },
	{ "raw_syscalls", "sys_exit", "id == " TEXT(SYS_futex), false },
};

/* The program that is traced. */
struct recording {
	struct instance instance;
	struct session session;
	char before[STAT_SIZE], after[STAT_SIZE];	/* FAST's counters; "": there are none */
	char *maps;	/* NULL: not known */
};

static void read_stat(char *text)
{
	FILE *file = fopen(STAT, "re");

	text[0] = '\0';
	if (!file)
		return;
	text[fread(text, 1, STAT_SIZE - 1, file)] = '\0';
	fclose(file);
}

static int enable(void *meter)
{
	struct recording *r = meter;

	read_stat(r->before);
	return instance_record(&r->instance, true) ? 0 : complain("%s", r->instance.why_not);
}

static int disable(void *meter)
{
	struct recording *r = meter;

	instance_record(&r->instance, false);
	read_stat(r->after);
	if (r->session.regions > 1)
		return complain("the program has more than one region of interest; trace all of it, "
				"without --roi");
	/* The program's threads are stopped, so the map is complete. */
	r->maps = process_maps(r->session.child.pid);
	return 0;
}

/*
 * trace-cmd writes the file at the end; report a bad path before the program runs. trace-cmd
 * removes a file that exists, so a device is refused.
 */
static int check_output(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return complain("cannot write %s: %s", path, strerror(errno));
	close(fd);
	return S_ISREG(status.st_mode) ? 0 : complain("cannot write %s: it is no file", path);
}

/* Where execvp() looks for programs. */
static bool is_installed(const char *program)
{
	const char *path = getenv("PATH") ?: "/bin:/usr/bin";
	char file[PATH_MAX];

	for (;; path++) {
		size_t length = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s%s%s", (int)length, path, length ? "/" : "",
			 program);
		if (!access(file, X_OK))
			return true;
		path += length;
		if (!*path)
			return false;
	}
}

static int prepare(struct recording *r, const struct options *opt)
{
	struct instance *i = &r->instance;

	if (!instance_open(i, "fast-trace", opt->buffer_kb))
		return complain("%s", i->why_not);
	if (!is_installed(TRACE_CMD))
		return complain("cannot run " TRACE_CMD ": %s; install it", strerror(errno));
	if (check_output(opt->output))
		return EXIT_OURS;
	for (size_t n = 0; n < sizeof(events) / sizeof(events[0]); n++) {
		const struct event *e = &events[n];

		if (e->optional && !tracefs_event_file_exists(NULL, e->system, e->name, "enable"))
			continue;
		if (!instance_enable(i, e->system, e->name, e->filter))
			return complain("%s", i->why_not);
	}
	return 0;
}

/* Runs a program to its end. `out`: its standard output; -1: as this program's. */
static int call(const char *const argv[], int out)
{
	posix_spawn_file_actions_t actions;
	int error, status = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	if (out >= 0) {
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
		posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	}
	error = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return complain("cannot run %s: %s; install it", argv[0], strerror(error));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return complain("cannot learn how %s ended: %s", argv[0], strerror(errno));
	return status ? complain("%s has failed", argv[0]) : 0;
}

/* As call(), but shows its output only if it fails. */
static int call_quietly(const char *const argv[])
{
	int said = memfd_create("said", MFD_CLOEXEC);
	char text[1024];
	ssize_t n;

	if (said < 0)
		return complain("no memory for the words of %s: %s", argv[0], strerror(errno));
	if (call(argv, said)) {
		lseek(said, 0, SEEK_SET);
		while ((n = read(said, text, sizeof(text))) > 0)
			fwrite(text, 1, (size_t)n, stderr);
		close(said);
		return EXIT_OURS;
	}
	close(said);
	return 0;
}

static int write_trace(struct recording *r, const struct options *opt)
{
	const char *const extract[] = {
		TRACE_CMD, "extract", "-B", tracefs_instance_get_name(r->instance.tracefs),
		"-o", opt->output, NULL,
	};
	const char *const print[] = { "base64", "--wrap=65536", opt->output, NULL };

	return call_quietly(extract) ?: opt->print ? call(print, -1) : 0;
}

/* The difference of each counter. Both texts have the same names, in the same order. */
static void put_mechanism(FILE *json, const struct recording *r)
{
	const char *before = r->before, *after = r->after;
	unsigned long long was, is;
	char name[64], separator = '{';
	int n, m;

	fputs(",\"mechanism\":", json);
	while (sscanf(before, "%*s %llu %n", &was, &n) == 1 &&
	       sscanf(after, "%63s %llu %n", name, &is, &m) == 2) {
		fprintf(json, "%c\"%s\":%llu", separator, name, is - was);
		separator = ',';
		before += n;
		after += m;
	}
	fputs(separator == '{' ? "null" : "}", json);
}

/* For each CPU whose buffer was full: the number of events lost, which are its last. */
static void put_lost(FILE *json, const struct instance *i)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	const char *comma = "";

	document_number(json, "buffer_kb", true, i->buffer_kb);
	fputs(",\"lost\":[", json);
	for (long cpu = 0; cpu < cpus; cpu++) {
		uint64_t events = instance_lost(i, cpu);

		if (!events)
			continue;
		fprintf(json, "%s{\"cpu\":%ld,\"events\":%" PRIu64 "}", comma, cpu, events);
		comma = ",";
	}
	fputc(']', json);
}

/* The same as a message, if there is no document. */
static void tell_lost(const struct instance *i)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		uint64_t events = instance_lost(i, cpu);

		if (events)
			complain("the buffer of CPU %ld was full: its last %" PRIu64 " events are "
				 "not in the trace; more than %zu KiB: --buffer-kb", cpu, events,
				 i->buffer_kb);
	}
}

static int tell(const struct recording *r, const struct options *opt, FILE *json)
{
	if (!json) {
		tell_lost(&r->instance);
		return 0;
	}
	fputs("{\"schema\":1", json);
	document_session(json, &r->session);
	put_mechanism(json, r);
	put_lost(json, &r->instance);
	document_text(json, "maps", r->maps);
	fputs("}\n", json);
	return document_flush(json, opt->command.json);
}

/* The program has been started, and waits. */
static int run(struct recording *r, const struct options *opt, FILE *json)
{
	int status = prepare(r, opt) ?: opt->command.roi ? 0 : enable(r);

	if (status) {
		session_drop(&r->session);
		return status;
	}
	status = session_run(&r->session);
	if (status)
		return status;
	if (!opt->command.roi)
		disable(r);
	return tell(r, opt, json) ?: write_trace(r, opt) ?: session_exit_status(&r->session);
}

int main(int argc, char **argv)
{
	struct options opt = { .output = "trace.dat" };
	struct recording r = { .instance.on = -1 };
	FILE *json;
	int status;

	command_guard_streams();
	argp_err_exit_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &opt);
	r.session = (struct session){
		.command = opt.command.program,
		.roi = opt.command.roi,
		.enable = enable,
		.disable = disable,
		.meter = &r,
	};
	status = document_open(&json, opt.command.json);
	if (!status) {
		status = session_start(&r.session) ?: run(&r, &opt, json);
		instance_close(&r.instance);
		session_end(&r.session);
	}
	free(r.maps);
	if (json)
		fclose(json);
	return status;
}
