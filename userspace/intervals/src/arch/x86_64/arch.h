/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inline assembly; the declarations say what each function does. */
#ifndef IVL_ARCH_H
#define IVL_ARCH_H

#include <outermost_frame.h>

struct ivl_worker;

static inline struct ivl_worker *ivl_self(void)
{
	struct ivl_worker *worker;

	__asm__ volatile("movq ivl_worker_self@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
			 : "=r"(worker));
	return worker;
}

static inline char *ivl_stack_pointer(void)
{
	char *pointer;

	__asm__("movq %%rsp, %0" : "=r"(pointer));
	return pointer;
}

/* Further registers that the call clobbers. */
#ifdef __AVX512F__
#define IVL_MORE_REGISTERS							\
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",	\
	"xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31",		\
	"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define IVL_MORE_REGISTERS
#endif

/* With the frame of switch.S. */
static inline __attribute__((always_inline)) long
ivl_call_on(void *stack, long (*function)(void *arg), void *arg, void **save)
{
	long result;

	__asm__ volatile(
		"push	%%rbp\n\t"
		"lea	1f(%%rip), %%rax\n\t"
		"push	%%rax\n\t"
		"lea	-48(%%rsp), %%rsp\n\t"
		"mov	%%rsp, (%[save])\n\t"
		"mov	%%rsp, %%rbp\n\t"
		IVL_OUTERMOST_FRAME_BEGIN("rip")
		"mov	%[stack], %%rsp\n\t"
		"call	*%[function]\n\t"
		"lea	56(%%rbp), %%rsp\n\t"
		IVL_OUTERMOST_FRAME_END
		"1:\n\t"
		"pop	%%rbp\n\t"
		: "=&a"(result), "+D"(arg), [function] "+S"(function), [stack] "+d"(stack),
		  [save] "+c"(save)
		:
		: "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory",
		  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
		  "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
		  IVL_MORE_REGISTERS);
	return result;
}

#endif
