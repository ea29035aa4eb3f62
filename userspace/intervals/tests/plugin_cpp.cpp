// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loaded by host.c: tasks that wait inside a handler, then rethrow. */
#include <cerrno>
#include <stdexcept>

#include "handlers.hpp"

static int throws(ivl_interval *, void *)
{
	throw std::runtime_error("lost");
}

extern "C" int use_intervals()
{
	ivl_config config;
	ivl_runtime *runtime;
	int status = 0;

	if (ivl_config_init(&config))
		return 2;
	config.workers = 2;
	if (ivl_start(&config, &runtime))
		return 3;
	if (!handlers::right(runtime))
		status = 4;
	else if (ivl_run(runtime, throws, nullptr) != ENOTRECOVERABLE)
		status = 5;
	ivl_stop(runtime);
	return status;
}
