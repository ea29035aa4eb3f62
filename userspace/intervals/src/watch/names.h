/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What functions are called in their program. */
#ifndef IVL_NAMES_H
#define IVL_NAMES_H

struct ivl_interval;

/*
 * Its symbol, which need not be exported; else where it is, as addr2line wants it:
 * "program+0x1234". There for ever, and found once.
 */
const char *ivl_function_name(const void *function);

/* That of an interval, or of its body's function. */
const char *ivl_interval_name(const struct ivl_interval *interval);

#endif
