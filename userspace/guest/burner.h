/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The burner: one CPU more than Linux knows of, and not under it. It executes nothing
 * but no-ops in a page of its own, which is how the clock of the simulated machine,
 * which counts instructions, is made to advance while all of Linux's CPUs wait
 * (userspace/cachesim/clock.h). The plugin knows the burner by that page.
 */
#ifndef GUEST_BURNER_H
#define GUEST_BURNER_H

/*
 * Its physical address. Linux keeps clear of the first megabyte, but for the code that
 * starts its CPUs, which is at the upper end.
 */
#define BURNER_PAGE 0x10000u
#define BURNER_SIZE 0x1000u

/*
 * Start it, once all of Linux's CPUs run: every CPU that waits to be started is taken for
 * it. Returns NULL, or what could not be done, with errno. Needs root and /dev/mem.
 */
const char *burner_start(void);

#endif
