// SPDX-License-Identifier: GPL-2.0
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int control_open(struct control *control)
{
	int commands[2], answers[2];

	/* The program's children must not hold these ends open. */
	if (pipe2(commands, O_CLOEXEC))
		return -1;
	if (pipe2(answers, O_CLOEXEC)) {
		close(commands[0]);
		close(commands[1]);
		return -1;
	}
	*control = (struct control){
		.commands = commands[0],
		.answers = answers[1],
		.program_commands = commands[1],
		.program_answers = answers[0],
	};
	return 0;
}

int control_announce(const struct control *control)
{
	char text[32];

	if (fcntl(control->program_commands, F_SETFD, 0) ||
	    fcntl(control->program_answers, F_SETFD, 0))
		return -1;
	snprintf(text, sizeof(text), "%d,%d", control->program_commands, control->program_answers);
	return setenv("FAST_PERF_CTL", text, 1);
}

void control_hand_over(const struct control *control)
{
	close(control->program_commands);
	close(control->program_answers);
}

void control_close(struct control *control)
{
	close(control->commands);
	close(control->answers);
}

static enum control_command parse(const char *line)
{
	if (!strcmp(line, "enable"))
		return CONTROL_ENABLE;
	if (!strcmp(line, "disable"))
		return CONTROL_DISABLE;
	return CONTROL_UNKNOWN;
}

/* Reads one byte: a second command stays in the pipe, where poll() sees it. */
int control_read(struct control *control, enum control_command *command)
{
	char c;
	ssize_t n = read(control->commands, &c, 1);

	*command = CONTROL_NONE;
	if (n < 0)
		return errno == EINTR ? 0 : -1;
	if (n == 0) {
		*command = CONTROL_CLOSED;
		return 0;
	}
	if (c == '\n') {
		control->line[control->used] = '\0';
		control->used = 0;
		*command = parse(control->line);
	} else if (control->used < sizeof(control->line) - 1) {
		/* A longer line is no command, whatever its end. */
		control->line[control->used++] = c;
	}
	return 0;
}

int control_ack(const struct control *control)
{
	return write(control->answers, "ack\n", 4) == 4 || errno == EPIPE ? 0 : -1;
}
