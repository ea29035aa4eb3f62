/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that is measured, from its start to its end: all of it, or the regions
 * between its markers (userspace/roi/roi.h). The caller measures: its functions are
 * called where a region of interest begins and ends.
 */
#ifndef FAST_SUPERVISE_SESSION_H
#define FAST_SUPERVISE_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "control.h"

/* The measurer's own, as for env, nice and timeout; any other status is the program's. */
#define EXIT_OURS 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNAL 128

struct session {
	char **command;
	bool roi;
	/* At the markers. Return 0, or an exit status after a message. */
	int (*enable)(void *meter);
	int (*disable)(void *meter);
	void *meter;
	/* While it runs, each time that tick_ms have passed (0: never), which it may change. */
	int (*tick)(void *meter);
	int tick_ms;

	struct child child;
	struct control control;
	int signals;		/* a signalfd; -1: signals are not taken */
	struct {
		sighandler_t pipe;
		sigset_t mask;
	} before;		/* their dispositions before */
	int asked_to_end;	/* the signal that asked for an end, else 0 */
	bool inside;		/* in a region of interest */
	unsigned int regions;	/* the number that have ended */
	uint64_t begun;
	uint64_t elapsed_ns;	/* of the regions, or of the whole program */
	int wait_status;	/* valid once it has ended */
};

/*
 * Starts the process, s->child.pid, which waits before it executes the program. From then until
 * session_end() signals that ask for an end are taken, so that no result is lost.
 */
int session_start(struct session *s);

/* Ends the process instead of session_run(). */
void session_drop(struct session *s);

/* Restores the signals, after the report; also needed if session_start() has failed. */
void session_end(struct session *s);

/* Runs the program to its end. Returns 0, or one of EXIT_*: then there is nothing to report. */
int session_run(struct session *s);

/* The program's exit status, as a shell reports it. */
int session_exit_status(const struct session *s);

/* Prints a line to standard error after the measuring program's name. Returns EXIT_OURS. */
__attribute__((format(printf, 1, 2)))
int complain(const char *format, ...);

#endif
