/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inline assembly; the declarations say what each function does. */
#ifndef IVL_ARCH_H
#define IVL_ARCH_H

#include <outermost_frame.h>

struct ivl_worker;

static inline struct ivl_worker *ivl_self(void)
{
	struct ivl_worker *worker, *offset;

	__asm__ volatile("mrs	%0, tpidr_el0\n\t"
			 "adrp	%1, :gottprel:ivl_worker_self\n\t"
			 "ldr	%1, [%1, #:gottprel_lo12:ivl_worker_self]\n\t"
			 "ldr	%0, [%0, %1]"
			 : "=&r"(worker), "=&r"(offset));
	return worker;
}

static inline char *ivl_stack_pointer(void)
{
	char *pointer;

	__asm__("mov %0, sp" : "=r"(pointer));
	return pointer;
}

/* Further registers that the call clobbers. */
#ifdef __ARM_FEATURE_SVE
#define IVL_MORE_REGISTERS							\
	, "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12",	\
	"p13", "p14", "p15"
#else
#define IVL_MORE_REGISTERS
#endif

/* With the frame of switch.S. */
static inline __attribute__((always_inline)) long
ivl_call_on(void *stack, long (*function)(void *arg), void *arg, void **save)
{
	register void *result __asm__("x0") = arg;
	register long (*called)(void *arg) __asm__("x1") = function;
	register void *on __asm__("x2") = stack;
	register void **saved __asm__("x3") = save;

	__asm__ volatile(
		"stp	x29, x30, [sp, #-16]!\n\t"
		"adr	x9, 1f\n\t"
		"sub	sp, sp, #160\n\t"
		"str	x9, [sp, #8]\n\t"
		"mov	x29, sp\n\t"
		"str	x29, [%[saved]]\n\t"
		IVL_OUTERMOST_FRAME_BEGIN("x30")
		"mov	sp, %[on]\n\t"
		"blr	%[called]\n\t"
		"add	sp, x29, #160\n\t"
		IVL_OUTERMOST_FRAME_END
		"1:\n\t"
		"ldp	x29, x30, [sp], #16\n\t"
		: "+r"(result), [called] "+r"(called), [on] "+r"(on), [saved] "+r"(saved)
		:
		: "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		  "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
		  "x27", "x28", "x30", "cc", "memory",
		  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
		  "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
		  "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31" IVL_MORE_REGISTERS);
	return (long)result;
}

#endif
