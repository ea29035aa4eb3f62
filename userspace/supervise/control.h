/* SPDX-License-Identifier: GPL-2.0 */
/*
 * perf stat's --control protocol, the side that counts: "enable" and "disable",
 * a line each, come through one pipe, and "ack" goes back through another. The
 * program finds its ends in FAST_PERF_CTL; userspace/roi/roi.h is its side.
 */
#ifndef FAST_SUPERVISE_CONTROL_H
#define FAST_SUPERVISE_CONTROL_H

#include <stddef.h>

enum control_command {
	CONTROL_NONE,		/* the line is not complete yet */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_UNKNOWN,
	CONTROL_CLOSED,		/* nobody is left to send anything */
};

struct control {
	int commands;		/* ours, to read from */
	int answers;		/* ours, to write to */
	int program_commands;	/* the program's, which inherits them */
	int program_answers;
	char line[16];
	size_t used;
};

int control_open(struct control *control);

/* Puts the program's ends into the environment. */
int control_announce(const struct control *control);

/* Once the program has its ends. The pipe closes with its own, not with ours. */
void control_hand_over(const struct control *control);

/* Our ends, once the program has ended. */
void control_close(struct control *control);

/* To be called when there is something to read. -1 is an error of read(). */
int control_read(struct control *control, enum control_command *command);

/* SIGPIPE has to be ignored. A program that has ended meanwhile is no error. */
int control_ack(const struct control *control);

#endif
