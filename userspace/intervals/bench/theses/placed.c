// SPDX-License-Identifier: LGPL-2.1-or-later
/* SOR and MG, whose loops say at which place a part is (SLAW, section V-D). */
#include "bench.h"

#define KERNEL(of, sizes, quick) \
	extern const struct bench_kernel bench_kernel_##of; \
	static int prepare_##of(unsigned int size) \
	{ \
		return bench_kernel_##of.prepare(size); \
	} \
	static bool check_##of(void) \
	{ \
		return bench_kernel_##of.check(); \
	} \
	const struct bench_kernel bench_kernel_##of##_placed = { \
		.name = #of "_placed", .size = sizes, .quick_size = quick, .repeats = 3, \
		.prepare = prepare_##of, .check = check_##of, \
	}

KERNEL(sor, 2000, 100);
KERNEL(mg, 256, 32);
