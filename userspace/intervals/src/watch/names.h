/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions and intervals. */
#ifndef IVL_NAMES_H
#define IVL_NAMES_H

struct ivl_interval;

/*
 * The symbol, exported or not; else the address in addr2line's form, "program+0x1234". Cached;
 * valid for ever.
 */
const char *ivl_function_name(const void *function);

/* The interval's name, or its body's function. */
const char *ivl_interval_name(const struct ivl_interval *interval);

#endif
