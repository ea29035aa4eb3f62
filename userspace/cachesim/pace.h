/* SPDX-License-Identifier: GPL-2.0 */
/* The plugin's variable for libpace.so, where that is preloaded. */
#ifndef PACE_H
#define PACE_H

/* 0 before the clock begins; then 1 and the turns of CPUs since. The vCPUs' thread counts. */
extern _Atomic unsigned long pace_turns __attribute__((visibility("default"), weak));

#endif
