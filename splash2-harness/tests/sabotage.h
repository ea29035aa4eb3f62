/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SPLASH_SABOTAGE_H
#define SPLASH_SABOTAGE_H

#include "common/splash.h"
#include "tests/damage.h"

static void damage_and_check(const struct splash_options *opt, struct verdict *verdict)
{
	do_damage();
	program.check(opt, verdict);
}

int main(int argc, char **argv)
{
	struct splash_program damaged = program;

	if (!choose_damage(argc, argv))
		return 2;
	damaged.check = damage_and_check;
	return splash_main(&damaged, argc - 1, argv + 1);
}

#endif
