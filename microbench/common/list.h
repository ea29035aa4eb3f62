/* SPDX-License-Identifier: GPL-2.0 */
/* The seven microbenchmarks, in the order of section 3.2.1. */
#ifndef MICROBENCH_LIST_H
#define MICROBENCH_LIST_H

/* Print all names with a one-line description each (--list). */
void list_print(void);

/* The description of one benchmark of the list. */
const char *list_description(const char *name);

#endif
