/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers in the guest's code (userspace/roi/roi.h), and the regions of interest between them.
 *
 *	           clock              begin
 *	  OUTSIDE --------> RUNNING ---------> COUNTING
 *	                       ^                   | write the document
 *	                       +-------------------+
 *	                                end
 */
#ifndef CACHESIM_REGION_H
#define CACHESIM_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "qemu_plugin_api.h"

/*
 * Open the files that sim.options name, to append documents. Returns 0, or -1 with a message in
 * `error` (cut to `size`).
 */
int region_open(char *error, size_t size);

void region_close(void);

bool region_has_marker(const struct qemu_plugin_insn *insn);

/* Is the instruction a marker? Then QEMU reports its executions. */
bool region_watch(struct qemu_plugin_insn *insn);

#endif
