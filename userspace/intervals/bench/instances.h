/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same measurement in several processes at once, each with as many workers: a machine that
 * is multiprogrammed, as that of Chase and Lev (2005), Figure 10.
 */
#ifndef BENCH_INSTANCES_H
#define BENCH_INSTANCES_H

/*
 * Call run(arg) in `count` processes, or in this process for one; it must have no threads yet.
 * Returns 0, or a call's result that is not 0; 1 if a process could not be made or was killed. The
 * first failure ends all processes.
 */
int instances_run(unsigned int count, int (*run)(const void *arg), const void *arg);

/* Called before the measured part: wait until all processes have arrived. */
void instances_meet(void);

#endif
