/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Switching stacks, and catching a C++ exception. Only callee-saved registers are saved.
 * Floating-point control words are the thread's, as with pthreads.
 */
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

	/* int ivl_call_body(ivl_interval *self, void *arg, ivl_body *body) */
	.globl	ivl_call_body
	.hidden	ivl_call_body
	.type	ivl_call_body, @function
	.p2align 4
ivl_call_body:
	.cfi_startproc
	.cfi_personality 0x1b, ivl_personality
	endbr64
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	*%rdx
	add	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	/* ivl_personality() makes an exception continue here, in %rax. */
	.globl	ivl_body_threw
	.hidden	ivl_body_threw
ivl_body_threw:
	.cfi_restore_state
	endbr64
	mov	%rax, %rdi
	call	ivl_caught
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	ivl_call_body, . - ivl_call_body

	.section .note.GNU-stack, "", @progbits
