// SPDX-License-Identifier: GPL-2.0
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int complain(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", program_invocation_short_name);
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

/* A signalfd of the signals that ask for an end. -1 with errno. */
static int take_signals(struct session *s)
{
	static const int taken[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaddset(&set, taken[i]);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return -1;
	sigprocmask(SIG_BLOCK, &set, &s->before.mask);
	s->before.pipe = signal(SIGPIPE, SIG_IGN);
	return 0;
}

int session_start(struct session *s)
{
	s->signals = -1;
	if (s->roi && (control_open(&s->control) || control_announce(&s->control)))
		return complain("cannot make the pipes of FAST_PERF_CTL: %s", strerror(errno));
	/*
	 * If SIGCHLD is ignored, as some daemons leave it, the kernel drops the program's status.
	 */
	signal(SIGCHLD, SIG_DFL);
	if (child_start(&s->child, s->command))
		return complain("cannot start a process: %s", strerror(errno));
	if (s->roi)
		control_hand_over(&s->control);
	/* The program has its own copies. */
	if (take_signals(s)) {
		int status = complain("signalfd: %s", strerror(errno));

		session_drop(s);
		return status;
	}
	return 0;
}

void session_drop(struct session *s)
{
	child_drop(&s->child);
}

/* nohup and a shell's background jobs ignore signals; a blocked signal is still delivered here. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* The next pending signal; 0: none. */
static int hear_signal(struct session *s)
{
	struct signalfd_siginfo info;
	int number;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	number = (int)info.ssi_signo;
	if (!is_ignored(number))
		s->asked_to_end = number;
	return number;
}

static void hear_signals(struct session *s)
{
	while (hear_signal(s))
		;
}

/* Another program may be started afterwards, and inherits the dispositions. */
void session_end(struct session *s)
{
	if (s->signals < 0)
		return;
	/* A signal that came after the program's end would end this process now. */
	hear_signals(s);
	close(s->signals);
	s->signals = -1;
	sigprocmask(SIG_SETMASK, &s->before.mask, NULL);
	signal(SIGPIPE, s->before.pipe);
}

/*
 * A terminal sends ^C and ^\ to the program, too, and its end is awaited. A signal to
 * this process alone is passed on to the program.
 */
static void forward_signal(struct session *s)
{
	int number = hear_signal(s);

	if (number == SIGTERM || number == SIGHUP)
		kill(s->child.pid, number);
}

static int enter(struct session *s)
{
	int status;

	if (s->inside)
		return complain("the program began a region of interest inside another");
	status = s->enable(s->meter);
	s->inside = true;
	s->begun = now_ns();
	return status;
}

static int leave(struct session *s)
{
	if (!s->inside)
		return complain("the program ended a region of interest that it had not begun");
	s->elapsed_ns += now_ns() - s->begun;
	s->inside = false;
	s->regions++;
	return s->disable(s->meter);
}

static int obey(struct session *s, enum control_command command)
{
	switch (command) {
	case CONTROL_ENABLE:
		return enter(s);
	case CONTROL_DISABLE:
		return leave(s);
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

/* Runs until the program has ended, and serves its last marker before that. */
static int attend(struct session *s)
{
	struct pollfd fds[] = {
		{ .fd = s->roi ? s->control.commands : -1, .events = POLLIN },
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->child.pidfd, .events = POLLIN },
	};

	for (;;) {
		int ready = poll(fds, 3, s->tick_ms ? s->tick_ms : -1);

		if (ready < 0) {
			if (errno == EINTR)
				continue;
			return complain("poll: %s", strerror(errno));
		}
		if (ready == 0) {
			int status = s->tick(s->meter);

			if (status)
				return status;
			continue;
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

static int cannot_run(const struct session *s, int number)
{
	complain("cannot run %s: %s", s->command[0], strerror(number));
	return number == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* An incomplete region gives no result. */
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

static int run_to_end(struct session *s)
{
	int number, status;

	if (!s->roi)
		s->begun = now_ns();
	number = child_go(&s->child);
	if (number) {
		child_wait(&s->child);
		return cannot_run(s, number);
	}
	status = attend(s);
	if (status)
		kill(s->child.pid, SIGKILL);
	s->wait_status = child_wait(&s->child);
	if (s->wait_status < 0)
		return complain("cannot learn how the program ended: %s", strerror(errno));
	if (status)
		return status;
	if (!s->roi) {
		s->elapsed_ns = now_ns() - s->begun;
		return 0;
	}
	return check_regions(s) ? session_exit_status(s) ?: EXIT_OURS : 0;
}

int session_run(struct session *s)
{
	int status = run_to_end(s);

	hear_signals(s);
	if (s->roi)
		control_close(&s->control);
	return status;
}

int session_exit_status(const struct session *s)
{
	return WIFSIGNALED(s->wait_status) ? EXIT_SIGNAL + WTERMSIG(s->wait_status) :
	       WEXITSTATUS(s->wait_status);
}
