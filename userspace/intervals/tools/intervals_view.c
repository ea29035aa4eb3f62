// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * intervals-view PROGRAM ARGUMENT...: work, span and parallelism of a program that is linked
 * with the library. Its status is the program's.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A line of INTERVALS_VIEW (src/watch/view.c), of one process. */
struct view {
	uint64_t work_ns, span_ns, burdened_ns, tasks, chain, held_ns;
	char program[256], guard[128];
};

static bool parse(const char *line, struct view *view)
{
	view->guard[0] = 0;
	return sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %255[^\t]\t%127[^\n]", &view->work_ns, &view->span_ns, &view->burdened_ns,
		      &view->tasks, &view->chain, &view->held_ns, view->program, view->guard) >= 7;
}

static double over(uint64_t one, uint64_t other)
{
	return other ? (double)one / (double)other : 1;
}

static void print_row(const char *name, uint64_t work_ns, uint64_t span_ns)
{
	fprintf(stderr, "%-16s %14.6f %14.6f %12.2f\n", name, (double)work_ns / 1e6,
		(double)span_ns / 1e6, over(work_ns, span_ns));
}

static void hint(const struct view *view)
{
	const double parallelism = over(view->work_ns, view->span_ns);
	const double burdened = over(view->work_ns, view->burdened_ns);
	const double guarded = view->held_ns ? over(view->work_ns, view->held_ns) : parallelism;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (guarded < parallelism)
		fprintf(stderr, "The guard %s is held for %.6f ms: no more than %.2f CPUs can "
			"work, whatever the span.\n", view->guard, (double)view->held_ns / 1e6,
			guarded);
	else if (burdened < parallelism / 2)
		fprintf(stderr, "Tasks are short, %.3f us each: moving one costs more. Make them "
			"longer (a larger grain).\n", over(view->work_ns, view->tasks) / 1e3);
	else if (parallelism < 2 * (double)cpus)
		fprintf(stderr, "No more than %.2f CPUs can work: shorten what one task does "
			"alone, or let more of it run beside it.\n", parallelism);
	else
		fprintf(stderr, "Enough for the %ld CPUs of this machine.\n", cpus);
}

static void print(const struct view *view)
{
	fprintf(stderr, "\n%s (intervals-view)\n%-16s %14s %14s %12s\n", view->program, "", "work",
		"span", "parallelism");
	print_row("time, ms", view->work_ns, view->span_ns);
	print_row("burdened, ms", view->work_ns, view->burdened_ns);
	fprintf(stderr, "%-16s %14" PRIu64 " %14" PRIu64 " %12.2f\n", "tasks", view->tasks,
		view->chain, over(view->tasks, view->chain));
	hint(view);
}

static int print_all(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];
	struct view view;
	int printed = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (parse(line, &view)) {
			print(&view);
			printed++;
		}
	}
	if (file)
		fclose(file);
	return printed;
}

/* As the shell reports it. */
static int run(char **words)
{
	int status;
	pid_t child;

	/* Where it is ignored nobody learns how a child has ended. */
	signal(SIGCHLD, SIG_DFL);
	child = fork();
	if (child < 0) {
		perror("intervals-view: fork");
		return EXIT_FAILURE;
	}
	if (!child) {
		execvp(words[0], words);
		fprintf(stderr, "intervals-view: %s: %s\n", words[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	/* They are the program's, which has them from the terminal, too. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];
	int file, status;

	if (argc < 2 || !strcmp(argv[1], "--help")) {
		fprintf(argc < 2 ? stderr : stdout,
			"usage: intervals-view PROGRAM ARGUMENT...\n"
			"Work, span and parallelism of a program that uses libintervals.\n");
		return argc < 2 ? 2 : EXIT_SUCCESS;
	}
	if (snprintf(path, sizeof(path), "%s/intervals-view-XXXXXX",
		     directory && *directory ? directory : "/tmp") >= (int)sizeof(path) ||
	    (file = mkstemp(path)) < 0) {
		fprintf(stderr, "intervals-view: no temporary file: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	close(file);
	setenv("INTERVALS_VIEW", path, 1);
	status = run(argv + 1);
	if (!print_all(path) && status != 126 && status != 127)
		fprintf(stderr, "intervals-view: %s has said nothing: it has not used libintervals, "
			"or has not come to its end\n", argv[1]);
	unlink(path);
	return status;
}
