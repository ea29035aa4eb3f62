/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SCX_WHY_NOT_H
#define SCX_WHY_NOT_H

#include <stdbool.h>

/*
 * What keeps the scheduler from being loaded on this kernel by this process, and what helps, as a
 * static string; NULL: nothing that can be known before. `sys` precedes the files' paths: "/sys".
 */
const char *why_not(const char *sys);

/*
 * The same for one program beside others, whose threads come first in the kernel's order: they
 * leave it a twentieth of a CPU. It takes a moment. `proc` is "/proc".
 */
const char *why_not_beside(const char *proc);

/*
 * Between two looks at /proc/stat, of which these are the texts: were CPUs busy for more than a
 * quarter of the time?
 */
bool are_busy(const char *before, const char *after);

#endif
