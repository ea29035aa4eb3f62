// SPDX-License-Identifier: GPL-2.0
/*
 * Runs COMMANDS one after the other, and prints after the output of each a line "status N". A
 * semicolon stands between commands, a space between their words.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32

static _Noreturn void become(char *command)
{
	char *words[WORDS + 1] = { strtok(command, " ") };

	for (int i = 1; i < WORDS && words[i - 1]; i++)
		words[i] = strtok(NULL, " ");
	execv(words[0], words);
	err(127, "%s", words[0]);
}

int main(void)
{
	static char commands[] = COMMANDS;
	char *rest = commands, *command;
	int status;

	while ((command = strsep(&rest, ";"))) {
		pid_t pid = fork();

		if (!pid)
			become(command);
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			err(1, "%s", command);
		printf("status %d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status)
							  : WEXITSTATUS(status));
		fflush(stdout);
	}
	return 0;
}
