/* SPDX-License-Identifier: GPL-2.0 */
/* The common part of the measuring programs' command lines. */
#ifndef FAST_SUPERVISE_COMMAND_H
#define FAST_SUPERVISE_COMMAND_H

#include <argp.h>
#include <stdbool.h>

struct command {
	char **program;		/* to be measured, with its arguments; NULL: none was named */
	bool roi;		/* measure between its markers only */
	const char *json;	/* the file for the document; NULL: print a table */
};

/* --roi, where it has no letter: -r is perf stat's --repeat. --json is 'j'. */
#define COMMAND_ROI 0x100

/* Of struct argp: what follows the options, and the end of the help. */
#define COMMAND_ARGUMENTS "-- PROGRAM [ARGUMENT...]"
#define COMMAND_STATUS(name) \
	"Its exit status is the program's; 125 if " name " failed, 126 or 127 if the program " \
	"could not be run or found, 128 + N if signal N killed it."

/*
 * To be called first: if a standard stream is closed, the next file that is opened would take its
 * place, and get this program's messages. A use of the stream still fails, and the measured program
 * finds it closed, as it was.
 */
void command_guard_streams(void);

/*
 * Is `arg` the value of an option? False if it is the "--" before the program, which argp takes
 * for a value.
 */
bool command_is_value(const char *arg);
/* For any key: ends the program if the value is missing. */
void command_check_value(const char *arg, const struct argp_state *state);

/*
 * Parses the keys that a program's own argp parser does not know, and returns its result.
 * `needs_program`: ends the program if no program to measure is named.
 */
error_t command_parse(int key, char *arg, const struct argp_state *state,
		      struct command *command, bool needs_program);

#endif
