// SPDX-License-Identifier: GPL-2.0
/*
 * For test_locks.py: what the plugin keeps of futex calls, of calls that C library functions make.
 * A filter turns each futex call into a signal, whose handler prints registers and stack as a line
 * of JSON and answers as if the call had been made. The last line is the same of a function that
 * stands for malloc(), where it begins.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define WORDS 64
#define ALLOCATION_WORDS 16

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static const char *what;

static void on_call(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint64_t *stack = (const uint64_t *)registers[REG_RSP];

	(void)number;
	(void)info;
	/* The instruction is syscall, of two bytes. */
	printf("{\"what\":\"%s\",\"pc\":%llu,\"sp\":%llu,\"bp\":%llu,\"stack\":[", what,
	       registers[REG_RIP] - 2, registers[REG_RSP], registers[REG_RBP]);
	for (int i = 0; i < WORDS; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)stack[i]);
	puts("]}");
	/* The mutex is free now, no waiter was woken, and a timed wait has expired. */
	mutex.__data.__lock = 0;
	registers[REG_RAX] = 0;
	if ((registers[REG_RSI] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
		registers[REG_RAX] = -ETIMEDOUT;
}

static void trap_futex_calls(void)
{
	struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO };
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(77);
}

__attribute__((noinline)) static void takes_here(void)
{
	/* As compilers write where they push what a call takes. */
	__asm__ volatile(".cfi_escape 0x2e, 0x10");
	what = "mutex";
	mutex.__data.__lock = 2;
	pthread_mutex_lock(&mutex);
	__asm__ volatile("");
}

__attribute__((noinline)) static void releases_here(void)
{
	what = "mutex";
	mutex.__data.__lock = 2;
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}

__attribute__((noinline)) static void waits_here(void)
{
	const struct timespec past = { 0 };

	what = "condition";
	pthread_cond_timedwait(&condition, &mutex, &past);
	__asm__ volatile("");
}

uint64_t kept_sp, kept_bp, kept_stack[ALLOCATION_WORDS];
void stand_in(void);
__asm__(".text\n"
	".type stand_in, @function\n"
	"stand_in:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, kept_sp(%rip)\n"
	"	mov %rbp, kept_bp(%rip)\n"
	"	mov %rsp, %rsi\n"
	"	lea kept_stack(%rip), %rdi\n"
	"	mov $16, %ecx\n"
	"	rep movsq\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size stand_in, . - stand_in\n");

__attribute__((noinline)) static void allocates_here(void)
{
	stand_in();	/* the call */
	__asm__ volatile("");
}

static void print_allocation(void)
{
	printf("{\"pc\":%llu,\"sp\":%llu,\"bp\":%llu,\"stack\":[",
	       (unsigned long long)(uintptr_t)stand_in, (unsigned long long)kept_sp,
	       (unsigned long long)kept_bp);
	for (int i = 0; i < ALLOCATION_WORDS; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)kept_stack[i]);
	puts("]}");
}

static void print_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int c, first = 1;

	printf("{\"maps\":[");
	while (maps && (c = getc(maps)) != EOF) {
		if (first)
			printf("\"");
		if (c == '\n')
			printf("\",");
		else
			putchar(c);
		first = c == '\n';
	}
	puts("\"\"]}");
}

static void *nothing(void *unused)
{
	return unused;
}

int main(void)
{
	pthread_t thread;

	/* A program that has always had one thread makes no wake call. */
	if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
		return 1;
	print_maps();
	fflush(stdout);
	trap_futex_calls();
	takes_here();
	releases_here();
	waits_here();
	allocates_here();
	print_allocation();
	fflush(stdout);
	return 0;
}
