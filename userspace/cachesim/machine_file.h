/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Machines come from files, one of which (presets/NAME.toml) both this library and
 * the Python package read: flat TOML of dotted keys, one to a line, whose values
 * are numbers, booleans and strings. Every key is there exactly once.
 */
#ifndef MACHINE_FILE_H
#define MACHINE_FILE_H

#include "cachesim.h"

/*
 * Read the machine in the file at `path`. Returns 0, or -1 with a message for the
 * user in `error` (cut to `size`): file, line, key, value and what is allowed.
 * Whether the values fit one another is cachesim_new()'s to say.
 */
int machine_file_read(struct cachesim_machine *machine, const char *path, char *error,
		      size_t size);

#endif
