// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * More threads than CPUs, and another load: a waiting thread sleeps. A yield would leave the CPU to
 * the load for its whole time slice, and count as an involuntary switch.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "one_cpu.h"

enum { TIMES = 500 };

/* As in a kernel before 5.16, or a sandbox that does not know it. */
static void forbid_futex_waitv(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex_waitv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	CHECK(syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) < 0 && errno == ENOSYS);
}

static pid_t begin_load(void)
{
	const pid_t load = fork();

	if (!load)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (volatile unsigned long turns = 0; !load; turns++)
		;
	CHECK(load > 0);
	return load;
}

int main(int argc, char **argv)
{
	struct rusage before, after;
	long switches, yields;
	int sum = 0;
	pid_t load;

	if (argc == 2 && !strcmp(argv[1], "without futex_waitv"))
		forbid_futex_waitv();
	if (argc == 1 || strcmp(argv[1], "on one CPU")) {
		stay_on_one_cpu();
		begin_again(argv[0]);
	}
	load = begin_load();
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < TIMES; i++) {
#pragma omp parallel reduction(+ : sum)
		{
			sum++;
#pragma omp barrier
		}
	}
	getrusage(RUSAGE_SELF, &after);
	kill(load, SIGKILL);
	CHECK(waitpid(load, NULL, 0) == load);
	switches = after.ru_nvcsw - before.ru_nvcsw;
	yields = after.ru_nivcsw - before.ru_nivcsw;
	CHECK(sum == TIMES * omp_get_max_threads());
	fprintf(stderr, "%d threads: %ld switches by a sleep, %ld by a yield or the kernel\n",
		omp_get_max_threads(), switches, yields);
	CHECK(omp_get_max_threads() == 1 || yields < switches);
	return 0;
}
