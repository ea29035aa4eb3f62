/* SPDX-License-Identifier: GPL-2.0 */
/* What the command lines of the measuring programs have in common. */
#ifndef FAST_SUPERVISE_COMMAND_H
#define FAST_SUPERVISE_COMMAND_H

#include <argp.h>
#include <stdbool.h>

struct command {
	char **program;		/* that is measured, with its arguments; NULL: none was named */
	bool roi;		/* between its markers only */
	const char *json;	/* the file for the numbers; NULL: they are for people */
};

/* --roi, where it has no letter: -r is perf stat's --repeat. --json is 'j'. */
#define COMMAND_ROI 0x100

/* Of struct argp: what follows the options, and the end of the help. */
#define COMMAND_ARGUMENTS "-- PROGRAM [ARGUMENT...]"
#define COMMAND_STATUS(name) \
	"Its exit status is the program's; 125 if " name " failed, 126 or 127 if the program " \
	"could not be run or found, 128 + N if signal N killed it."

/*
 * To be called first: where a standard stream is closed, the next file that is opened would be
 * taken for it, and would get our messages. Whoever uses it still fails, and the program has it
 * closed, as it was.
 */
void command_guard_streams(void);

/*
 * The value of an option that takes one: false, if it is the "--" that the program stands behind,
 * which argp takes for any value.
 */
bool command_is_value(const char *arg);
/* Of any key: ends the program where it is none. */
void command_check_value(const char *arg, const struct argp_state *state);

/*
 * For the keys that a program's own argp parser does not know; its result is the parser's.
 * `needs_program`: the program ends where none is named.
 */
error_t command_parse(int key, char *arg, const struct argp_state *state,
		      struct command *command, bool needs_program);

#endif
