/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of the sabotage programs, here and in splash2-harness/tests: such a program includes a
 * benchmark's source, so as to reach its data, and damages what that has made just before
 * it is checked. Its first argument names the damage, "none" being one; the rest is the
 * benchmark's own command line.
 */
#ifndef MICROBENCH_DAMAGE_H
#define MICROBENCH_DAMAGE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct sabotage {
	const char *name;
	void (*damage)(void);
};

/* The damages of one benchmark; the last has no name. */
extern const struct sabotage sabotages[];

/* The one that was chosen; NULL: "none". */
static void (*damage)(void);

static void do_damage(void)
{
	if (damage)
		damage();
}

/*
 * Choose by argv[1]; argv + 1 is the benchmark's command line then. False: there is no such
 * damage.
 */
static bool choose_damage(int argc, char **argv)
{
	const struct sabotage *s = sabotages;

	if (argc < 2)
		return false;
	if (strcmp(argv[1], "none") != 0) {
		while (s->name && strcmp(s->name, argv[1]) != 0)
			s++;
		if (!s->name) {
			fprintf(stderr, "no sabotage %s\n", argv[1]);
			return false;
		}
		damage = s->damage;
	}
	argv[1] = argv[0];
	return true;
}

#endif
