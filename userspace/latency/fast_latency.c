// SPDX-License-Identifier: GPL-2.0
/* fast-latency: how long a program's hand-offs of mutexes and its threads' wake-ups take. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"
#include "document.h"
#include "report.h"
#include "session.h"
#include "shared.h"
#include "trace.h"
#include "wakeups.h"

#define LIBRARY "libfast-handoff.so"

static const struct argp_option argp_options[] = {
	{ "roi", COMMAND_ROI, NULL, 0,
	  "between the program's region-of-interest markers only (userspace/roi/roi.h)", 0 },
	{ "json", 'j', "FILE", 0, "write the histograms to FILE as one JSON object on one line, "
	  "and no table", 0 },
	{ 0 }
};

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	if (key == 'j' && !command_is_value(arg))
		argp_error(state, "--json: which file? It stands before the --");
	return command_parse(key, arg, state, state->input, true);
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_key,
	.args_doc = COMMAND_ARGUMENTS,
	.doc = "Measures how long the hand-offs of a program's mutexes and the wake-ups of its "
	       "threads take, with all that it starts, and prints percentiles to standard error. "
	       "Wake-ups need root.\v" COMMAND_STATUS("fast-latency"),
};

/* The program that is measured. */
struct measurement {
	struct shared *shared;
	struct wakeups wakeups;
	struct trace trace;
	struct session session;
};

static int enable(void *meter)
{
	struct measurement *m = meter;

	trace_begin(&m->trace);
	__atomic_store_n(&m->shared->measuring, 1, __ATOMIC_RELAXED);
	return 0;
}

static int disable(void *meter)
{
	struct measurement *m = meter;

	__atomic_store_n(&m->shared->measuring, 0, __ATOMIC_RELAXED);
	trace_end(&m->trace);
	return 0;
}

/* The library lies in the directory of this program. */
static int library_path(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - sizeof(LIBRARY));
	char *slash;

	if (length < 0)
		return complain("/proc/self/exe: %s; is /proc mounted?", strerror(errno));
	path[length] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash + 1, LIBRARY);
	if (access(path, R_OK))
		return complain("%s: %s; it belongs beside this program", path, strerror(errno));
	return 0;
}

static int preload(const char *path)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (strpbrk(path, " :"))
		return complain("%s: a directory with a space or a colon in its name cannot be "
				"preloaded from", path);
	if (asprintf(&all, "%s%s%s", path, others ? ":" : "", others ? others : "") < 0 ||
	    setenv("LD_PRELOAD", all, 1))
		return complain("%s", strerror(errno));
	free(all);
	return 0;
}

/* Memory that the program and all its children can open, whatever descriptors they have closed. */
static int share(struct measurement *m)
{
	char text[48];
	int fd = memfd_create("fast-latency", MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, sizeof(*m->shared)) || fcntl(fd, F_ADD_SEALS, SHARED_SEALS))
		return complain("cannot make memory to share: %s", strerror(errno));
	m->shared = mmap(NULL, sizeof(*m->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m->shared == MAP_FAILED)
		return complain("cannot map memory to share: %s", strerror(errno));
	snprintf(text, sizeof(text), "/proc/%d/fd/%d", (int)getpid(), fd);
	if (setenv(SHARED_VARIABLE, text, 1))
		return complain("%s", strerror(errno));
	return 0;
}

/* The library sees pthread mutexes only; FAST sees all. */
#define OTHER_LOCKS \
	"fast trace shows the hand-offs of locks that call futex() by themselves, as Rust's do"

static bool any_lock(const struct shared *shared)
{
	for (unsigned int i = 0; i < SHARED_LOCKS; i++)
		if (shared->locks[i].key)
			return true;
	return false;
}

/* Why the library can see no hand-off of this program; NULL: it can. */
static const char *unseen(const struct shared *shared)
{
	if (any_lock(shared))
		return NULL;
	if (shared->of_several)
		return "all mutexes that were seen are for several processes "
		       "(PTHREAD_PROCESS_SHARED)";
	return "no pthread mutex was seen; " OTHER_LOCKS;
}

static const char *no_handoffs(const struct shared *shared)
{
	if (!shared->processes)
		return "the program does not load libraries: it is static, or privileged";
	if (shared->processes > SHARED_PROCESSES)
		return "the program has started too many processes";
	if (shared->no_room)
		return "the program has too many mutexes";
	return NULL;
}

static int tell(const struct measurement *m, const struct command *command, FILE *json)
{
	const char *why_not = m->trace.follow.instance.why_not;
	const struct latency latencies[] = {
		{
			.name = "handoff",
			.histogram = &m->shared->handoff,
			.why_not = no_handoffs(m->shared),
			.unseen = unseen(m->shared),
			.if_none = "no pthread mutex was handed over; " OTHER_LOCKS,
		},
		{
			.name = "wakeup",
			.histogram = &m->wakeups.histogram,
			.why_not = why_not[0] ? why_not : NULL,
		},
	};
	const struct report report = { &m->session, latencies, 2, m->shared };

	if (!json) {
		report_text(stderr, &report);
		return 0;
	}
	report_json(json, &report);
	return document_flush(json, command->json);
}

/* The program has been started, and waits. */
static int run(struct measurement *m, const struct command *command, FILE *json)
{
	int status;

	trace_open(&m->trace, m->session.child.pid, &m->wakeups);
	if (!command->roi)
		enable(m);
	status = session_run(&m->session);
	if (!status && !command->roi)
		disable(m);
	trace_close(&m->trace);
	if (status)
		return status;
	status = tell(m, command, json);
	return session_exit_status(&m->session) ?: status;
}

static int measure(const struct command *command, FILE *json)
{
	struct measurement m = {
		.session = {
			.command = command->program,
			.roi = command->roi,
			.enable = enable,
			.disable = disable,
			.meter = &m,
		},
	};
	char path[PATH_MAX];
	int status = library_path(path, sizeof(path)) ?: preload(path) ?: share(&m);

	if (status)
		return status;
	if (wakeups_open(&m.wakeups))
		return complain("%s", strerror(errno));
	status = session_start(&m.session) ?: run(&m, command, json);
	session_end(&m.session);
	wakeups_close(&m.wakeups);
	return status;
}

int main(int argc, char **argv)
{
	struct command command = { 0 };
	FILE *json;
	int status;

	command_guard_streams();
	argp_err_exit_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &command);
	status = document_open(&json, command.json) ?: measure(&command, json);
	if (json)
		fclose(json);
	return status;
}
