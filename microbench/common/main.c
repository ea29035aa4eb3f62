// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

extern const struct bench benchmark;

int main(int argc, char **argv)
{
	return bench_main(&benchmark, argc, argv);
}
