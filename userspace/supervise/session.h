/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that is measured, from its start to its end: all of it, or what lies
 * between its markers (userspace/roi/roi.h). What is measured, and how, is the
 * caller's business: it is told where a region of interest begins and ends.
 */
#ifndef FAST_SUPERVISE_SESSION_H
#define FAST_SUPERVISE_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "control.h"

/* As env, nice and timeout have it: these are the measurer's, all others the program's. */
#define EXIT_OURS 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNAL 128

struct session {
	char **command;
	bool roi;
	/* At the markers. 0, or a status to end with, after a complaint. */
	int (*enable)(void *meter);
	int (*disable)(void *meter);
	void *meter;

	struct child child;
	struct control control;
	int signals;		/* a signalfd; -1: they are not ours */
	struct {
		sighandler_t pipe;
		sigset_t mask;
	} before;		/* what was done with them */
	int asked_to_end;	/* the signal by which we were, else 0 */
	bool inside;		/* a region of interest */
	unsigned int regions;	/* that have ended */
	uint64_t begun;
	uint64_t elapsed_ns;	/* in the regions, or of the whole program */
	int wait_status;	/* once it has ended */
};

/*
 * Starts the process, s->child.pid, that waits until it may become the program. Signals that ask
 * for an end are ours then, until session_end(): nothing is left behind, and no result is lost.
 */
int session_start(struct session *s);

/* Ends it, where it may not. */
void session_drop(struct session *s);

/* Gives the signals back, when all is told and tidied up; also where session_start() has failed. */
void session_end(struct session *s);

/* Runs the program to its end. 0, or one of EXIT_*: then there is nothing to report. */
int session_run(struct session *s);

/* The program's exit status, as a shell says it. */
int session_exit_status(const struct session *s);

/* To standard error, a line behind the measuring program's name. Returns EXIT_OURS. */
__attribute__((format(printf, 1, 2)))
int complain(const char *format, ...);

#endif
