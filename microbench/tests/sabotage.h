/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MICROBENCH_SABOTAGE_H
#define MICROBENCH_SABOTAGE_H

#include "common/bench.h"
#include "tests/damage.h"

extern const struct bench benchmark;

/* For the damages. */
static const struct options *opt;

static void damage_and_check(const struct options *options, struct verdict *verdict)
{
	opt = options;
	do_damage();
	benchmark.check(options, verdict);
}

int main(int argc, char **argv)
{
	struct bench damaged = benchmark;

	if (!choose_damage(argc, argv))
		return 2;
	damaged.check = damage_and_check;
	return bench_main(&damaged, argc - 1, argv + 1);
}

#endif
