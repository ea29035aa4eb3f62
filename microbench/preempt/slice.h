/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time slice extension of Linux 7.0 (CONFIG_RSEQ_SLICE_EXTENSION): a thread asks for some
 * microseconds more before the kernel preempts it, while it holds a lock. The kernel's
 * Documentation/userspace-api/rseq.rst describes the protocol. No C library has it.
 */
#ifndef MICROBENCH_SLICE_H
#define MICROBENCH_SLICE_H

/*
 * Make this process able to use the extension: once, before it has threads. The C library's
 * registration of rseq is in the way, so the program may begin again. Exits with 1 and a message
 * where the kernel lacks the extension.
 */
void slice_setup(char **argv);

/* For the calling thread: until slice_end() it asks for an extension. */
void slice_begin(void);

/* The thread asks no more, and gives back at once what it was granted. */
void slice_end(void);

#endif
