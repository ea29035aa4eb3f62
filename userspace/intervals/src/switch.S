/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What C cannot say: going on with another stack. Only the registers that a
 * called function must keep are saved, the floating-point control words not:
 * they are the thread's, as with pthreads.
 */
#if !defined(__x86_64__)
#error "intervals: no context switch for this architecture; src/switch.S has x86-64"
#endif

	.text

	/* long ivl_switch(void **save, void *sp, long result) */
	.globl	ivl_switch
	.hidden	ivl_switch
	.type	ivl_switch, @function
	.p2align 4
ivl_switch:
	.cfi_startproc
	endbr64
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	mov	%rdx, %rax
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.cfi_endproc
	.size	ivl_switch, . - ivl_switch

	.section .note.GNU-stack, "", @progbits
