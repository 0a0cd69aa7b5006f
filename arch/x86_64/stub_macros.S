/* x86_64: what the stubs of stubs.S have in common. */
#ifndef UTRAIL_ARCH_X86_64_STUB_MACROS_H
#define UTRAIL_ARCH_X86_64_STUB_MACROS_H

#include "libmcount/offsets.h"

#if REGS_BYTES != 9 * 8
#error "SAVE_CALLER_SAVED makes a struct arch_regs"
#endif

	.macro SAVE_CALLER_SAVED
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	.endm

	.macro RESTORE_CALLER_SAVED
	popq	%r11
	.cfi_adjust_cfa_offset -8
	popq	%r10
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	.endm

	.macro FUNCTION name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	endbr64
	.endm

	.macro END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/*
 * The flags, as a word at \place and %rax. They do not come through instructions that count, but
 * through all that only move.
 */
	.macro SAVE_FLAGS place
	lahf
	seto	%al
	movq	%rax, \place
	.endm

/* From %rax. */
	.macro RESTORE_FLAGS
	addb	$0x7f, %al
	sahf
	.endm

#endif
