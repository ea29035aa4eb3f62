/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same measurement in several processes at once, each with as many workers: a machine that
 * is multiprogrammed, as that of Chase and Lev (2005), Figure 10.
 */
#ifndef BENCH_INSTANCES_H
#define BENCH_INSTANCES_H

/*
 * Call run(arg) in that many processes, or for one in this process, which must have no threads.
 * 0, or what a call has returned that was not 0; 1 where a process could not be made or was
 * killed. Where one fails the others are ended.
 */
int instances_run(unsigned int count, int (*run)(const void *arg), const void *arg);

/* Before what is measured: wait until all processes have come here. */
void instances_meet(void);

#endif
