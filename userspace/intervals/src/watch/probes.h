/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Probes for bpftrace, perf and SystemTap (sys/sdt.h): a nop in the code, and a note in the file
 * with its address and its arguments' registers.
 */
#ifndef IVL_PROBES_H
#define IVL_PROBES_H

#ifdef IVL_HAVE_SDT
#include <sys/sdt.h>
#define IVL_PROBE1(name, one) STAP_PROBE1(intervals, name, one)
#define IVL_PROBE2(name, one, two) STAP_PROBE2(intervals, name, one, two)
#else
#define IVL_PROBE1(name, one) ((void)0)
#define IVL_PROBE2(name, one, two) ((void)0)
#endif

#endif
