/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SCX_WHY_NOT_H
#define SCX_WHY_NOT_H

/*
 * What keeps the scheduler from being loaded on this kernel by this process, and what helps, as a
 * static string; NULL: nothing that can be known before. `sys` precedes the files' paths: "/sys".
 */
const char *why_not(const char *sys);

#endif
