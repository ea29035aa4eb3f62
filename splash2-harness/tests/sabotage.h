/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sabotage program includes a program's source, so as to reach its data. Its first
 * argument names the damage, "none" being one; the rest is the program's own command
 * line.
 */
#ifndef SPLASH_SABOTAGE_H
#define SPLASH_SABOTAGE_H

#include <stdio.h>
#include <string.h>

#include "common/splash.h"

struct sabotage {
	const char *name;
	void (*damage)(void);
};

/* The damages of one program; the last has no name. */
extern const struct sabotage sabotages[];

static void (*chosen)(void);

static void damage_and_check(const struct splash_options *opt, struct verdict *verdict)
{
	if (chosen)
		chosen();
	program.check(opt, verdict);
}

int main(int argc, char **argv)
{
	const struct sabotage *s = sabotages;
	struct splash_program damaged = program;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "none") != 0) {
		while (s->name && strcmp(s->name, argv[1]) != 0)
			s++;
		if (!s->name) {
			fprintf(stderr, "no sabotage %s\n", argv[1]);
			return 2;
		}
		chosen = s->damage;
	}
	damaged.check = damage_and_check;
	argv[1] = argv[0];
	return splash_main(&damaged, argc - 1, argv + 1);
}

#endif
