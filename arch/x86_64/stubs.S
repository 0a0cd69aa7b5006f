/*
 * x86_64: where compiled code enters the probe, and how it gets back.
 *
 * Frame of the entry stubs after SAVE_CALLER_SAVED (offsets from %rsp):
 *
 *	 0 .. 71   r11 r10 r9 r8 rdi rsi rdx rcx rax
 *	72         return address of the stub's own call: inside the traced function
 *	80         mcount: whatever the function has pushed; its return slot is 8(%rbp)
 *	           __fentry__: the function's return slot (nothing was pushed yet)
 *
 * What must survive: all argument registers, rax (vector count of variadic calls), r10 (static chain
 * of nested functions, or the realigned frame's pointer). r11 is free at function entry (psABI: the PLT
 * may change it). Vector registers are not touched: probe code is built with -mgeneral-regs-only.
 *
 * The way out is not `ret`. A function whose return slot was replaced would have its own `ret`
 * mispredicted on every call, since the CPU's return stack holds the caller's address. So the
 * stub makes the trampoline the newest entry of that stack, by a `call` that lies directly in
 * front of the trampoline, and goes back by an indirect jump. Measured: 8 of 30 ns per call.
 */

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

	.text

/*
 * -pg: called behind the prologue, so the return slot is found through %rbp.
 * probe_entry(return slot, address inside the function) yields non-zero when the slot was replaced.
 */
FUNCTION mcount
	SAVE_CALLER_SAVED
	leaq	8(%rbp), %rdi
	movq	72(%rsp), %rsi
	call	probe_entry
	testl	%eax, %eax
	RESTORE_CALLER_SAVED
	jnz	.Lresume
	ret
END mcount
	.globl	_mcount
	.type	_mcount, @function
	.set	_mcount, mcount

/* -pg -mfentry: called before anything was pushed, so the return slot lies above our own return address. */
FUNCTION __fentry__
	SAVE_CALLER_SAVED
	leaq	80(%rsp), %rdi
	movq	72(%rsp), %rsi
	call	probe_entry
	testl	%eax, %eax
	RESTORE_CALLER_SAVED
	jnz	.Lresume
	ret
END __fentry__

/* Back into the traced function, with the trampoline as the newest entry of the return stack. */
	.balign	16
	.type	arch_resume, @function
arch_resume:
	.cfi_startproc
	.cfi_adjust_cfa_offset 0
.Lresume:
	popq	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %r11
	call	.Lgo
	.cfi_endproc
	.size	arch_resume, . - arch_resume

/*
 * A traced function returned. %rsp is one above its return slot. What must survive: rax, rdx, xmm0,
 * xmm1 and st0-1 (return values), and, for compilers that look into callees (-fipa-ra), every other register.
 */
	.globl	arch_return_trampoline
	.hidden	arch_return_trampoline
	.type	arch_return_trampoline, @function
arch_return_trampoline:
	.cfi_startproc
	.cfi_undefined %rip
	SAVE_CALLER_SAVED
	leaq	64(%rsp), %rdi
	call	probe_exit
	movq	%rax, (%rsp)
	RESTORE_CALLER_SAVED
	notrack jmp *%r11
.Lgo:
	leaq	8(%rsp), %rsp
	notrack jmp *%r11
	.cfi_endproc
	.size	arch_return_trampoline, . - arch_return_trampoline

/* See arch.h. %rdi: fn, %rsi: arg. The area is 64-byte aligned and XSAVE's header starts as zeros. */
FUNCTION arch_call_preserving_vectors
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	arch_xsave_bytes(%rip), %rsp
	andq	$-64, %rsp
	movq	%rdi, %rcx
	movq	%rsi, %rdi
	movq	arch_xsave_mask(%rip), %rax
	testq	%rax, %rax
	jz	1f
	xorl	%edx, %edx
	movq	%rdx, 512(%rsp)
	movq	%rdx, 520(%rsp)
	movq	%rdx, 528(%rsp)
	movq	%rdx, 536(%rsp)
	movq	%rdx, 544(%rsp)
	movq	%rdx, 552(%rsp)
	movq	%rdx, 560(%rsp)
	movq	%rdx, 568(%rsp)
	xsave64	(%rsp)
	call	*%rcx
	movq	arch_xsave_mask(%rip), %rax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
	call	*%rcx
	fxrstor64 (%rsp)
2:	leave
	.cfi_def_cfa %rsp, 8
	ret
END arch_call_preserving_vectors
	.hidden	arch_call_preserving_vectors

	.section .note.GNU-stack, "", @progbits
