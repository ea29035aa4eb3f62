// SPDX-License-Identifier: GPL-2.0
/* Prints a variable of its environment, and of each FILE[:WORD] that it is given the first line, or
 * the first one with that word. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *variable = getenv("ARM");
	char line[4096];

	printf("ARM=%s\n", variable ? variable : "");
	for (int i = 1; i < argc; i++) {
		const char *path = strtok(argv[i], ":"), *word = strtok(NULL, ":");
		FILE *file = fopen(path, "re");

		do {
			if (!file || !fgets(line, sizeof(line), file)) {
				perror(path);
				return 1;
			}
		} while (word && !strstr(line, word));
		fputs(line, stdout);
		fclose(file);
	}
	return 0;
}
