// SPDX-License-Identifier: GPL-2.0
#include "slice.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's ABI, which Debian's headers do not have yet. */
#define AT_RSEQ_FEATURE_SIZE_ 27
#define PR_RSEQ_SLICE_EXTENSION_ 79
#define PR_RSEQ_SLICE_EXTENSION_SET_ 2
#define PR_RSEQ_SLICE_EXT_ENABLE_ 1
#define SYS_rseq_slice_yield_ 471

#define TUNABLES "GLIBC_TUNABLES"
#define NO_RSEQ "glibc.pthread.rseq=0"
/* More than any kernel's struct rseq has: the area's size, and its alignment. */
#define AREA 256

/* struct rseq of Linux 7.0, up to what is used here. */
struct area {
	uint32_t cpu_id_start, cpu_id;
	uint64_t rseq_cs;
	uint32_t flags, node_id, mm_cid;
	volatile uint8_t request, granted;
} __attribute__((aligned(AREA)));

union registration {
	struct area area;
	char bytes[AREA];
};

static __thread union registration registration;
static __thread bool registered;

static void give_up(const char *what)
{
	fprintf(stderr, "%s: %s; the time slice extension needs Linux 7.0 or newer with "
			"CONFIG_RSEQ_SLICE_EXTENSION=y\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void register_thread(void)
{
	const unsigned long needed = getauxval(AT_RSEQ_FEATURE_SIZE_);
	const unsigned int size = needed > 32 ? (unsigned int)needed : 32;

	if (syscall(SYS_rseq, &registration, size, 0, RSEQ_SIG))
		give_up("rseq");
	if (prctl(PR_RSEQ_SLICE_EXTENSION_, PR_RSEQ_SLICE_EXTENSION_SET_, PR_RSEQ_SLICE_EXT_ENABLE_,
		  0, 0))
		give_up("prctl(PR_RSEQ_SLICE_EXTENSION)");
	registered = true;
}

void slice_setup(char **argv)
{
	const char *tunables = getenv(TUNABLES);

	if (!__rseq_size)
		return;
	if (tunables && strstr(tunables, NO_RSEQ)) {
		fprintf(stderr, "%s=%s: the C library has registered rseq in spite of it\n",
			TUNABLES, tunables);
		exit(EXIT_FAILURE);
	}
	setenv(TUNABLES, NO_RSEQ, 1);
	execv("/proc/self/exe", argv);
	perror("/proc/self/exe");
	exit(EXIT_FAILURE);
}

void slice_begin(void)
{
	if (!registered)
		register_thread();
	registration.area.request = 1;
	atomic_signal_fence(memory_order_seq_cst);
}

void slice_end(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	registration.area.request = 0;
	if (registration.area.granted)
		syscall(SYS_rseq_slice_yield_);
}
