// SPDX-License-Identifier: GPL-2.0
/* scx_fast: runs a program, or the machine, under the scheduler in scx_fast.bpf.c. */
#include <argp.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "scheduler.h"
#include "session.h"
#include "why_not.h"

#define POLICY_EXT 7		/* SCHED_EXT */
#define LOOK_MS 100
/* kernel/sched/ext: what ops.exit() is told. */
#define CODE_RESTART (1LL << 48)

static const char *const modes[] = { "off", "strict", "adaptive" };
static const char *const counters[] = {
#define f(name) #name,
	FOR_EACH_COUNTER(f)
#undef f
};

struct options {
	enum mode mode;
	bool everything;
	unsigned int stats_s;	/* 0: at the end only */
	struct command command;
};

static const struct argp_option argp_options[] = {
	{ "mode", 'm', "MODE", 0,
	  "off (no lock is heeded), strict (each waiter runs where it was released: the default) or "
	  "adaptive (the threads of a lock meet on one CPU while that is faster)", 0 },
	{ "all", 'a', NULL, 0,
	  "schedule all threads of the machine, not only the program's; without a program until "
	  "SIGINT or SIGTERM", 0 },
	{ "stats", 's', "SECONDS", 0, "print the counters that often, too", 0 },
	{ "json", 'j', "FILE", 0, "append the counters to FILE, each time as a JSON object on a line",
	  0 },
	{ 0 }
};

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;
	unsigned long seconds;
	char *end;

	command_check_value(arg, state);
	switch (key) {
	case 'm':
		for (opt->mode = 0; strcmp(modes[opt->mode], arg) != 0;)
			if (++opt->mode == sizeof(modes) / sizeof(*modes))
				argp_error(state, "--mode: '%s' is neither off, strict nor adaptive", arg);
		break;
	case 'a':
		opt->everything = true;
		break;
	case 's':
		seconds = strtoul(arg, &end, 10);
		if (!isdigit((unsigned char)*arg) || *end || seconds < 1 || seconds > 86400)
			argp_error(state, "--stats: '%s' is no number of seconds from 1 to 86400", arg);
		opt->stats_s = (unsigned int)seconds;
		break;
	case ARGP_KEY_END:
		return command_parse(key, arg, state, &opt->command, !opt->everything);
	default:
		return command_parse(key, arg, state, &opt->command, true);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_key,
	.args_doc = COMMAND_ARGUMENTS,
	.doc = "Runs a program under a scheduler that places the waiter of a lock on the CPU where the "
	       "lock was released. The scheduler is a BPF program (sched_ext), gone when this ends. "
	       "Where it cannot be loaded the program runs without, and the reason is said. Without "
	       "--all, threads of the machine's normal policy come first: it is not loaded where such "
	       "threads keep the CPUs busy.\v"
	       COMMAND_STATUS("scx_fast"),
};

static int say(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

static void tell(const struct scheduler *scheduler, FILE *json)
{
	u64 values[N_COUNTERS] = { 0 };

	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		for (int i = 0; i < N_COUNTERS; i++)
			values[i] += scheduler->shared->cpus[cpu].counters[i];
	fprintf(stderr, "scx_fast:");
	for (int i = 0; i < N_COUNTERS; i++)
		fprintf(stderr, " %s %" PRIu64, counters[i], values[i]);
	fputc('\n', stderr);
	if (!json)
		return;
	for (int i = 0; i < N_COUNTERS; i++)
		fprintf(json, "%c \"%s\": %" PRIu64, i ? ',' : '{', counters[i], values[i]);
	fprintf(json, " }\n");
	fflush(json);
}

static pid_t start(char **argv, bool scheduled, const sigset_t *signals)
{
	const struct sched_param none = { 0 };
	pid_t pid = fork();

	if (pid)
		return pid;
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	if (scheduled && sched_setscheduler(0, POLICY_EXT, &none)) {
		fprintf(stderr, "scx_fast: sched_setscheduler(SCHED_EXT): %s\n", strerror(errno));
		_exit(EXIT_OURS);
	}
	execvp(argv[0], argv);
	fprintf(stderr, "scx_fast: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/*
 * The kernel has unloaded the scheduler: true if it is loaded again, as after a CPU came or went.
 */
static bool reload(struct scheduler *scheduler, const struct options *opt)
{
	const struct shared *shared = (const struct shared *)scheduler->shared;
	const s64 code = shared->exit_code;

	fprintf(stderr, "scx_fast: the kernel has unloaded the scheduler: %s%s%s%s\n",
		shared->exit_reason, *shared->exit_message ? ": " : "", shared->exit_message,
		code & CODE_RESTART ? "; loading it again" : "; all threads go on without it");
	if (!(code & CODE_RESTART))
		return false;
	scheduler_unload(scheduler);
	scheduler->object = NULL;
	return !scheduler_load(scheduler, opt->mode, opt->everything);
}

/* Until the program, or this process, ends. Returns the program's wait status. */
static int watch(struct scheduler *scheduler, const struct options *opt, pid_t pid,
		 const sigset_t *signals, FILE *json)
{
	const struct timespec look = { 0, LOOK_MS * 1000000L };
	unsigned int looks = 0;
	bool loaded = scheduler->object;
	int status = 0;

	for (;;) {
		int signal = sigtimedwait(signals, NULL, &look);

		if (pid && signal == SIGCHLD && waitpid(pid, &status, WNOHANG) == pid)
			return status;
		/* A terminal sends them to the program, too. */
		if (!pid && (signal == SIGINT || signal == SIGTERM))
			return 0;
		if (pid && signal == SIGTERM)
			kill(pid, SIGTERM);
		if (signal >= 0)
			continue;
		if (loaded && scheduler->shared->exit_kind)
			loaded = reload(scheduler, opt);
		if (!loaded && !pid)
			return EXIT_OURS << 8;
		if (opt->stats_s && loaded && ++looks % (opt->stats_s * 1000 / LOOK_MS) == 0)
			tell(scheduler, json);
	}
}

int main(int argc, char **argv)
{
	struct options opt = { .mode = MODE_STRICT };
	struct scheduler scheduler = { 0 };
	const char *reason;
	FILE *json = NULL;
	sigset_t signals;
	int status, error;
	pid_t pid = 0;

	command_guard_streams();
	argp_err_exit_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &opt);
	libbpf_set_print(say);
	if (opt.command.json && !(json = fopen(opt.command.json, "ae"))) {
		fprintf(stderr, "scx_fast: %s: %s\n", opt.command.json, strerror(errno));
		return EXIT_OURS;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	reason = why_not("/sys");
	if (!reason && !opt.everything)
		reason = why_not_beside("/proc");
	if (!reason) {
		error = scheduler_load(&scheduler, opt.mode, opt.everything);
		if (error)
			reason = strerror(error);
	}
	if (reason)
		fprintf(stderr, "scx_fast: not loaded: %s%s\n", reason,
			opt.command.program ? "; the program runs without it" : "");
	if (reason && !opt.command.program)
		return EXIT_OURS;
	if (opt.command.program)
		pid = start(opt.command.program, !reason && !opt.everything, &signals);
	if (pid < 0) {
		fprintf(stderr, "scx_fast: fork: %s\n", strerror(errno));
		return EXIT_OURS;
	}
	status = watch(&scheduler, &opt, pid, &signals, json);
	if (scheduler.object) {
		tell(&scheduler, json);
		scheduler_unload(&scheduler);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
