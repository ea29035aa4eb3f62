/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The burner: a CPU that Linux does not know. It executes only no-ops, in a page of its
 * own. The clock of the simulated machine counts instructions, so these let it advance
 * while all of Linux's CPUs wait (userspace/cachesim/clock.h). The plugin knows the burner
 * by that page.
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
 * Start it, once all of Linux's CPUs run: any CPU that has not been started becomes the
 * burner. Returns NULL, or the step that failed, with errno. Needs root and /dev/mem.
 */
const char *burner_start(void);

#endif
