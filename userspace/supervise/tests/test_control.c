// SPDX-License-Identifier: GPL-2.0
/* The --control protocol, with the test in the place of the program. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "control.h"

static struct control control;

SET_UP
{
	signal(SIGPIPE, SIG_IGN);
	return control_open(&control);
}

TEAR_DOWN
{
	close(control.commands);
	close(control.answers);
	return 0;
}

static void send_text(const char *text)
{
	assert_int_equal(write(control.program_commands, text, strlen(text)), strlen(text));
}

static enum control_command receive(void)
{
	enum control_command command;

	do
		assert_int_equal(control_read(&control, &command), 0);
	while (command == CONTROL_NONE);
	return command;
}

FIXTURE_TEST(commands_are_lines)
{
	enum control_command command;

	send_text("ena");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(control_read(&control, &command), 0);
		assert_int_equal(command, CONTROL_NONE);
	}
	send_text("ble\ndisable\nenable\n");
	assert_int_equal(receive(), CONTROL_ENABLE);
	assert_int_equal(receive(), CONTROL_DISABLE);
	assert_int_equal(receive(), CONTROL_ENABLE);
	control_hand_over(&control);
}

FIXTURE_TEST(what_is_no_command_is_unknown)
{
	send_text("enabled\n\nDISABLE\nenable ");
	assert_int_equal(receive(), CONTROL_UNKNOWN);
	assert_string_equal(control.line, "enabled");
	assert_int_equal(receive(), CONTROL_UNKNOWN);
	assert_int_equal(receive(), CONTROL_UNKNOWN);
	/* Longer than the line that is kept. */
	send_text("and some more of it\nenable\n");
	assert_int_equal(receive(), CONTROL_UNKNOWN);
	assert_int_equal(receive(), CONTROL_ENABLE);
	control_hand_over(&control);
}

FIXTURE_TEST(the_end_is_seen)
{
	send_text("disable\n");
	control_hand_over(&control);
	assert_int_equal(receive(), CONTROL_DISABLE);
	assert_int_equal(receive(), CONTROL_CLOSED);
	/* The program is gone: an answer without a reader is no error. */
	assert_int_equal(control_ack(&control), 0);
}

FIXTURE_TEST(answers_arrive)
{
	char text[16] = "";

	assert_int_equal(control_ack(&control), 0);
	assert_int_equal(read(control.program_answers, text, sizeof(text)), 4);
	assert_string_equal(text, "ack\n");
	control_hand_over(&control);
}

FIXTURE_TEST(the_program_is_told_its_ends)
{
	char expected[32];

	assert_int_equal(control_announce(&control), 0);
	snprintf(expected, sizeof(expected), "%d,%d", control.program_commands,
		 control.program_answers);
	assert_string_equal(getenv("FAST_PERF_CTL"), expected);
	/* It inherits its own ends, and only these. */
	assert_int_equal(fcntl(control.program_commands, F_GETFD), 0);
	assert_int_equal(fcntl(control.program_answers, F_GETFD), 0);
	assert_int_equal(fcntl(control.commands, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(control.answers, F_GETFD), FD_CLOEXEC);
	control_hand_over(&control);
}

RUN_TESTS(NULL, NULL)
