/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the sabotage programs, here and in splash2-harness/tests. Such a program includes a
 * benchmark's source to reach its data, and damages the result just before the check. Its
 * first argument names the damage, or is "none"; the rest is the benchmark's own command
 * line.
 */
#ifndef MICROBENCH_DAMAGE_H
#define MICROBENCH_DAMAGE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sabotage {
	const char *name;
	void (*damage)(void);
} sabotages[16];	/* the last has no name */

static void add_sabotage(const char *name, void (*function)(void))
{
	struct sabotage *s = sabotages;

	while (s->name)
		s++;
	if (s == sabotages + 15)
		abort();
	*s = (struct sabotage){ name, function };
}

/* A function that damages the data. */
#define SABOTAGE(function)							\
	static void function(void);						\
	__attribute__((constructor)) static void add_##function(void)		\
	{									\
		add_sabotage(#function, function);				\
	}									\
	static void function(void)

/* The chosen damage; NULL: "none". */
static void (*damage)(void);

static void do_damage(void)
{
	if (damage)
		damage();
}

/*
 * Choose by argv[1]; then argv + 1 is the benchmark's command line. Returns false if there is
 * no such damage.
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
