// SPDX-License-Identifier: LGPL-2.1-or-later
/* A program in C that uses the library, then loads tasks in C++, where nobody else sees them. */
#include <dlfcn.h>
#include <stdio.h>

#include <intervals.h>

static int nothing(ivl_interval *self, void *arg)
{
	return 0;
}

int main(int count, char **arguments)
{
	ivl_runtime *runtime;
	void *plugin;
	int (*use)(void);

	/* One without C++, which the library must not take for all. */
	if (count != 2 || ivl_start(NULL, &runtime) || ivl_run(runtime, nothing, NULL))
		return 1;
	ivl_stop(runtime);
	plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&use = dlsym(plugin, "use_intervals");
	return use ? use() : 1;
}
