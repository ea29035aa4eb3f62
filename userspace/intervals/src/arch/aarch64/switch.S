/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Switching stacks, and catching a C++ exception. Only callee-saved registers are saved (AAPCS64:
 * the low halves of v8 to v15). Floating-point control words are the thread's, as with pthreads.
 */
	.text

	/* long ivl_switch(void **save, void *sp, long result) */
	.globl	ivl_switch
	.hidden	ivl_switch
	.type	ivl_switch, %function
	.p2align 4
ivl_switch:
	.cfi_startproc
	hint	#34			/* bti c */
	sub	sp, sp, #160
	stp	x29, x30, [sp]
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mov	x9, sp
	str	x9, [x0]
	mov	sp, x1
	mov	x0, x2
	ldp	x29, x30, [sp]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	add	sp, sp, #160
	ret
	.cfi_endproc
	.size	ivl_switch, . - ivl_switch

	/* int ivl_call_body(ivl_interval *self, void *arg, ivl_body *body) */
	.globl	ivl_call_body
	.hidden	ivl_call_body
	.type	ivl_call_body, %function
	.p2align 4
ivl_call_body:
	.cfi_startproc
	.cfi_personality 0x1b, ivl_personality
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	blr	x2
	.cfi_remember_state
	ldp	x29, x30, [sp], #16
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
	/* ivl_personality() makes an exception continue here, in x0. */
	.globl	ivl_body_threw
	.hidden	ivl_body_threw
ivl_body_threw:
	.cfi_restore_state
	hint	#38			/* bti jc */
	bl	ivl_caught
	ldp	x29, x30, [sp], #16
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	ivl_call_body, . - ivl_call_body

	.section .note.GNU-stack, "", %progbits

	/* Each entry has its bti, which the linker checks by this note. */
	.section .note.gnu.property, "a", %note
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0
