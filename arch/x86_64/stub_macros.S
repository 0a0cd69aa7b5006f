/* x86_64: macros of the files with assembly code. */
#ifndef UTRAIL_ARCH_X86_64_STUB_MACROS_H
#define UTRAIL_ARCH_X86_64_STUB_MACROS_H

#include "libmcount/offsets.h"

#if REGS_BYTES != 9 * 8
#error "SAVE_CALLER_SAVED makes a struct arch_regs"
#endif

	.macro PUSH regs:vararg
	.irp	reg, \regs
	pushq	%\reg
	.cfi_adjust_cfa_offset 8
	.endr
	.endm

	.macro POP regs:vararg
	.irp	reg, \regs
	popq	%\reg
	.cfi_adjust_cfa_offset -8
	.endr
	.endm

	.macro SAVE_CALLER_SAVED
	PUSH	rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	.endm

	.macro RESTORE_CALLER_SAVED
	POP	r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	.endm

/* A name that only the probe itself can use. */
	.macro HIDDEN name
	.globl	\name
	.hidden	\name
	.endm

/* \cfi: the function's unwind directives that follow .cfi_startproc. */
	.macro FUNCTION name, cfi:vararg
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	\cfi
	endbr64
	.endm

	.macro HIDDEN_FUNCTION name, cfi:vararg
	.hidden	\name
	FUNCTION \name, \cfi
	.endm

	.macro END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/*
 * Stores the flags as a word at \place and in %rax. Code before SAVE_FLAGS and after
 * RESTORE_FLAGS must keep the flags. Such code changes %rsp by leaq, not by addq or subq.
 */
	.macro SAVE_FLAGS place
	lahf
	seto	%al
	movq	%rax, \place
	.endm

/* Restores the flags. %rax must contain the word that SAVE_FLAGS has stored. */
	.macro RESTORE_FLAGS
	addb	$0x7f, %al
	sahf
	.endm

/*
 * Saves the flags, and the registers of SAVE_CALLER_SAVED. Afterwards, %rsp points to a struct
 * arch_regs, and the word with the flags lies directly above this struct.
 */
	.macro SAVE_WITH_FLAGS
	leaq	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	SAVE_CALLER_SAVED
	SAVE_FLAGS REGS_BYTES(%rsp)
	.endm

	.macro RESTORE_WITH_FLAGS
	movq	REGS_BYTES(%rsp), %rax
	RESTORE_FLAGS
	RESTORE_CALLER_SAVED
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	.endm

#endif
