// SPDX-License-Identifier: GPL-2.0
#include "command.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void command_guard_streams(void)
{
	/* Ascending, so that each open() returns this descriptor; opened against its direction. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

bool command_is_value(const char *arg)
{
	return strcmp(arg, "--") != 0;
}

void command_check_value(const char *arg, const struct argp_state *state)
{
	if (arg && !command_is_value(arg))
		argp_error(state, "an option before the -- has no value");
}

error_t command_parse(int key, char *arg, const struct argp_state *state,
		      struct command *command, bool needs_program)
{
	switch (key) {
	case COMMAND_ROI:
		command->roi = true;
		break;
	case 'j':
		command->json = arg;
		break;
	case ARGP_KEY_ARGS:
		command->program = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		if (needs_program && !command->program)
			argp_error(state, "which program? %s [OPTION...] " COMMAND_ARGUMENTS,
				   state->name);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}
