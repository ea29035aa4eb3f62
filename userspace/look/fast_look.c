// SPDX-License-Identifier: GPL-2.0
/*
 * fast-look: what the threads of a program wait for, by their futex calls on the running kernel.
 *
 * Recording slows down only what it records, and reading takes CPU time of its own. So all of the
 * first second is recorded, and then a fifth of each second.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "document.h"
#include "record.h"
#include "session.h"

#define MS UINT64_C(1000000)
#define FIRST_STRETCH_NS (1000 * MS)
#define STRETCH_NS (200 * MS)
#define PAUSE_NS (800 * MS)
/* Of the memory map: a short program has one, too. */
#define FIRST_TICK_MS 1
#define TICK_MS 50

struct options {
	pid_t pid;	/* 0: the program */
	struct probes probes;
	struct command command;
};

static const struct argp_option argp_options[] = {
	{ "pid", 'p', "PID", 0,
	  "look at this process, for as long as PROGRAM runs or until the process ends", 0 },
	{ "probe", 'P', "HOW:REGISTER:OFFSET:FILE", 0,
	  "a function that threads call before they wait for a lock, whose address is in REGISTER "
	  "(%di); HOW is once if such a thread may go on to other work, else each", 0 },
	{ "json", 'j', "FILE", 0, "write the counts to FILE as one JSON object on one line", 0 },
	{ 0 }
};

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;
	char *end;
	long pid;

	command_check_value(arg, state);
	switch (key) {
	case 'p':
		pid = strtol(arg, &end, 10);
		if (!isdigit((unsigned char)*arg) || *end || pid < 1 || pid > INT32_MAX)
			argp_error(state, "--pid: '%s' is no process", arg);
		opt->pid = (pid_t)pid;
		break;
	case 'P':
		if (probes_add(&opt->probes, arg))
			argp_error(state, "--probe: not HOW:REGISTER:OFFSET:FILE, or too many");
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
	.doc = "Counts what the threads of a program wait for, with all that it starts, and which "
	       "threads wake them. Needs root. `fast look` makes an answer of it.\v"
	       COMMAND_STATUS("fast-look"),
};

struct look {
	struct session session;
	struct waits waits;
	struct record record;
	pid_t pid;
	bool recording;
	uint64_t until;		/* this stretch, or this pause */
	char *maps;		/* of the process, as they were last; NULL: not known */
};

/* Returns false if the process has ended. */
static bool keep_maps(struct look *l)
{
	char *maps = process_maps(l->pid);

	if (!maps)
		return false;
	free(l->maps);
	l->maps = maps;
	return true;
}

static int begin(struct look *l, uint64_t ns)
{
	l->recording = true;
	l->until = record_now_ns() + ns;
	return record_begin(&l->record) ? 0 :
	       complain("%s", l->record.follow.instance.why_not);
}

static int end(struct look *l)
{
	uint64_t began = record_now_ns(), took;

	if (!l->recording)
		return 0;
	l->recording = false;
	if (!record_end(&l->record))
		return complain("%s", l->record.follow.instance.why_not);
	took = record_now_ns() - began;
	l->until = record_now_ns() + (PAUSE_NS > 4 * took ? PAUSE_NS : 4 * took);
	return 0;
}

static int tick(void *meter)
{
	struct look *l = meter;
	int *ms = &l->session.tick_ms;

	if (!keep_maps(l) && l->pid != l->session.child.pid)
		kill(l->session.child.pid, SIGKILL);
	*ms = 2 * *ms < TICK_MS ? 2 * *ms : TICK_MS;
	if (record_now_ns() < l->until)
		return 0;
	return l->recording ? end(l) : begin(l, STRETCH_NS);
}

static void put_part(FILE *json, const struct look *l, const struct waits_part *part)
{
	fprintf(json, "[%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]%s", (int)part->tid,
		part->waits, part->wakes, part->wait_ns, waits_lived_ns(&l->waits, part->tid),
		part->next ? "," : "");
}

static void put_word(FILE *json, const struct look *l, const struct waits_word *word)
{
	fprintf(json, "{\"process\":%d,\"address\":%" PRIu64, (int)word->process, word->address);
	document_number(json, "probe", word->probe >= 0, (uint64_t)word->probe);
	document_number(json, "found_taken", true, word->found_taken);
	document_number(json, "forms", true, word->forms);
	document_number(json, "waits", true, word->waits);
	document_number(json, "wakes", true, word->wakes);
	document_number(json, "ones", true, word->ones);
	document_number(json, "woken", true, word->woken);
	document_number(json, "taken", true, word->taken);
	document_number(json, "remote", true, word->remote);
	document_number(json, "moved", true, word->moved);
	document_number(json, "in_vain", true, word->in_vain);
	document_number(json, "handoff_ns", true, word->handoff_ns);
	document_number(json, "first", true, word->first);
	document_number(json, "last", true, word->last);
	document_number(json, "changes", true, word->changes);
	document_number(json, "falls", true, word->falls);
	fputs(",\"threads\":[", json);
	for (const struct waits_part *part = word->parts; part; part = part->next)
		put_part(json, l, part);
	fputs("]}", json);
}

static int tell(const struct look *l, FILE *json, const char *path)
{
	const char *comma = "";

	fputs("{\"schema\":1", json);
	document_session(json, &l->session);
	document_number(json, "process", true, (uint64_t)l->pid);
	document_number(json, "recorded_ns", true, l->waits.recorded_ns);
	document_number(json, "stretches", true, l->record.stretches);
	document_number(json, "events", true, l->record.recorded);
	document_number(json, "lost", true, l->record.lost);
	document_number(json, "threads", true, l->waits.count);
	fputs(",\"words\":[", json);
	for (const struct waits_word *word = l->waits.words; word; word = word->next) {
		fputs(comma, json);
		put_word(json, l, word);
		comma = ",";
	}
	fputc(']', json);
	document_text(json, "maps", l->maps);
	fputs("}\n", json);
	return document_flush(json, path);
}

/* The program has been started, and waits. */
static int run(struct look *l, struct options *opt, FILE *json)
{
	int status;

	l->pid = opt->pid ? opt->pid : l->session.child.pid;
	status = record_open(&l->record, l->pid, &l->waits, &opt->probes) ? begin(l, FIRST_STRETCH_NS) :
		 complain("%s", l->record.follow.instance.why_not);
	if (status) {
		session_drop(&l->session);
		return status;
	}
	return session_run(&l->session) ?: end(l) ?: tell(l, json, opt->command.json) ?:
	       session_exit_status(&l->session);
}

static int look(struct options *opt, FILE *json)
{
	struct look l = {
		.session = {
			.command = opt->command.program,
			.tick = tick,
			.tick_ms = FIRST_TICK_MS,
			.meter = &l,
		},
	};
	int status;

	if (waits_open(&l.waits))
		return complain("%s", strerror(errno));
	status = session_start(&l.session) ?: run(&l, opt, json);
	record_close(&l.record);
	session_end(&l.session);
	waits_close(&l.waits);
	free(l.maps);
	return status;
}

int main(int argc, char **argv)
{
	struct options opt = { .pid = 0 };
	FILE *json;
	int status;

	command_guard_streams();
	argp_err_exit_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &opt);
	if (!opt.command.json)
		return complain("where to write the counts? --json FILE");
	status = document_open(&json, opt.command.json);
	if (!status) {
		status = look(&opt, json);
		fclose(json);
	}
	return status;
}
