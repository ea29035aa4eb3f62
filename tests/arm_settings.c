// SPDX-License-Identifier: GPL-2.0
/* Prints a variable of its environment, and the first line of each file that it is given. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	const char *variable = getenv("ARM");
	char line[4096];

	printf("ARM=%s\n", variable ? variable : "");
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "re");

		if (!file || !fgets(line, sizeof(line), file)) {
			perror(argv[i]);
			return 1;
		}
		fputs(line, stdout);
		fclose(file);
	}
	return 0;
}
