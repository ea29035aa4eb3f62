/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counting side of perf stat's --control protocol: the program sends the lines
 * "enable" and "disable" through one pipe, and gets "ack" through another. It finds
 * its ends in FAST_PERF_CTL; userspace/roi/roi.h is its side.
 */
#ifndef FAST_SUPERVISE_CONTROL_H
#define FAST_SUPERVISE_CONTROL_H

#include <stddef.h>

enum control_command {
	CONTROL_NONE,		/* the line is not complete yet */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_UNKNOWN,
	CONTROL_CLOSED,		/* the program has closed its end */
};

struct control {
	int commands;		/* this side reads */
	int answers;		/* this side writes */
	int program_commands;	/* the program inherits these two */
	int program_answers;
	char line[16];
	size_t used;
};

int control_open(struct control *control);

/* Puts the program's ends into the environment. */
int control_announce(const struct control *control);

/* Closes the copies of the program's ends, once it has inherited them. */
void control_hand_over(const struct control *control);

/* Closes this side's ends, once the program has ended. */
void control_close(struct control *control);

/* To be called when `commands` is readable. Returns 0, or -1: read() failed. */
int control_read(struct control *control, enum control_command *command);

/* SIGPIPE has to be ignored. A program that has ended meanwhile is no error. */
int control_ack(const struct control *control);

#endif
