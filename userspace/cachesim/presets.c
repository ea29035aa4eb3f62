// SPDX-License-Identifier: GPL-2.0
/*
 * The machines. Sources and reasons of every figure: Documentation/cache-model.rst.
 */
#include <string.h>

#include "cachesim.h"

#define KB 1024u
#define MB (1024u * KB)

static const struct cachesim_machine presets[] = {
	{
		/* The paper's machine (Table 1): 4-way Itanium 2 (1.3 GHz), one bus. */
		.name = "rx4640",
		.l1i = { .size = 16 * KB, .ways = 4, .line = 64 },
		.l1d = { .size = 16 * KB, .ways = 4, .line = 64, .write = CACHESIM_WRITE_THROUGH },
		.l2 = { .size = 256 * KB, .ways = 8, .line = 128 },
		.l3 = { .size = 4 * MB, .ways = 16, .line = 128 },
		.clusters = 1,
		.latency = {
			.l2 = 4, .l3 = 10, .memory = 208, .cache_to_cache = 208, .upgrade = 60,
		},
	},
	{
		/*
		 * The same for problems of a quarter of the size. Code does not shrink with
		 * them, so the instruction cache stays, and so do lines and latencies.
		 */
		.name = "rx4640-quarter",
		.l1i = { .size = 16 * KB, .ways = 4, .line = 64 },
		.l1d = { .size = 4 * KB, .ways = 4, .line = 64, .write = CACHESIM_WRITE_THROUGH },
		.l2 = { .size = 64 * KB, .ways = 8, .line = 128 },
		.l3 = { .size = 1 * MB, .ways = 16, .line = 128 },
		.clusters = 1,
		.latency = {
			.l2 = 4, .l3 = 10, .memory = 208, .cache_to_cache = 208, .upgrade = 60,
		},
	},
	{
		/* Two sockets of a Xeon E5-2600 (Sandy Bridge, 2.6 GHz), inclusive L3. */
		.name = "xeon-2s",
		.l1i = { .size = 32 * KB, .ways = 8, .line = 64 },
		.l1d = { .size = 32 * KB, .ways = 8, .line = 64 },
		.l2 = { .size = 256 * KB, .ways = 8, .line = 64 },
		.l3 = { .size = 20 * MB, .ways = 20, .line = 64, .shared = true },
		.clusters = 2,
		.latency = {
			.l2 = 8, .l3 = 18, .memory = 200, .cache_to_cache = 260, .upgrade = 100,
		},
	},
};

const struct cachesim_machine *cachesim_preset(const char *name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (!strcmp(presets[i].name, name))
			return &presets[i];
	return NULL;
}

const char *cachesim_preset_names(void)
{
	return "rx4640, rx4640-quarter, xeon-2s";
}
