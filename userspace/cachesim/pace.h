/* SPDX-License-Identifier: GPL-2.0 */
/* What the plugin tells libpace.so, where that is preloaded. */
#ifndef PACE_H
#define PACE_H

/* Turns of CPUs since the clock began, and one more: 0 before. The vCPUs' thread counts. */
extern _Atomic unsigned long pace_turns __attribute__((visibility("default"), weak));

#endif
