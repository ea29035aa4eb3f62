// SPDX-License-Identifier: LGPL-2.1-or-later
/* A program in C that uses the library, then loads a plugin in C++ with RTLD_LOCAL. */
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

	/* The first runtime runs before C++ is loaded: the library must not remember that. */
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
