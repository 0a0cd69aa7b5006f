/*
 * x86_64: functions instrumented as compilers do it, and a caller that puts known values into all
 * registers.
 */

	.text
	.macro FUNCTION name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* The hook of -pg: it is called after the prologue. */
FUNCTION traced_mcount
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	movq	%rsp, %rbp
	call	mcount
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	ret
END traced_mcount

/* -pg -mfentry. */
FUNCTION traced_fentry
	call	__fentry__
	ret
END traced_fentry

/* XRay's sleds, patched. */
FUNCTION traced_xray
	call	arch_xray_entry
	jmp	arch_xray_exit
END traced_xray

FUNCTION traced_xray_tail
	call	arch_xray_entry
	pushq	$0x8d7
	popfq
	call	arch_xray_tail
	pushfq
	popq	point_flags(%rip)
	ret
END traced_xray_tail

/* A call into a library, through a GOT slot. */
FUNCTION traced_libcall
	movabsq	$0x5566778899aabbcc, %r11
	call	*got_slot(%rip)
	ret
END traced_libcall

FUNCTION library_function
	movq	%r11, r11_in_library(%rip)
	ret
END library_function

/* An event in the middle of a function that keeps data in its red zone and uses the flags. */
FUNCTION traced_point
	movabsq	$0x0123456789abcdef, %r11
	movq	%r11, -8(%rsp)
	movabsq	$0xfedcba9876543210, %r11
	movq	%r11, -128(%rsp)
	leaq	-128(%rsp), %rsp
	pushq	point_flags_before(%rip)
	popfq
	leaq	128(%rsp), %rsp
	jmp	*point_stub(%rip)
	.globl	traced_point_back
traced_point_back:
	leaq	-128(%rsp), %rsp
	pushfq
	popq	point_flags(%rip)
	cld
	leaq	128(%rsp), %rsp
	movq	-8(%rsp), %r11
	movq	%r11, point_red_zone(%rip)
	movq	-128(%rsp), %r11
	movq	%r11, 8+point_red_zone(%rip)
	ret
END traced_point

/* A slow path that may change every vector register. */
FUNCTION traced_slow
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
	leaq	trash_vectors(%rip), %rdi
	leaq	trash_argument(%rip), %rsi
	call	arch_call_preserving_vectors
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
	ret
END traced_slow

/*
 * void call_with_registers(void (*fn)(void), const struct registers *in, struct registers *out)
 * struct registers has 14 general registers (rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r12 r13 r14 r15)
 * and rflags. At offset 128 an XSAVE area follows, for the components of arch_xsave_mask.
 */
FUNCTION call_with_registers
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$24, %rsp
	movq	%rdi, 0(%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)

	movq	%rsi, %r11
	movq	arch_xsave_mask(%rip), %rax
	xorl	%edx, %edx
	xrstor64 128(%r11)
	movq	0(%r11), %rax
	movq	8(%r11), %rbx
	movq	16(%r11), %rcx
	movq	24(%r11), %rdx
	movq	32(%r11), %rsi
	movq	40(%r11), %rdi
	movq	48(%r11), %rbp
	movq	56(%r11), %r8
	movq	64(%r11), %r9
	movq	72(%r11), %r10
	movq	80(%r11), %r12
	movq	88(%r11), %r13
	movq	96(%r11), %r14
	movq	104(%r11), %r15
	call	*0(%rsp)

	movq	16(%rsp), %r11
	movq	%rax, 0(%r11)
	movq	%rbx, 8(%r11)
	movq	%rcx, 16(%r11)
	movq	%rdx, 24(%r11)
	movq	%rsi, 32(%r11)
	movq	%rdi, 40(%r11)
	movq	%rbp, 48(%r11)
	movq	%r8, 56(%r11)
	movq	%r9, 64(%r11)
	movq	%r10, 72(%r11)
	movq	%r12, 80(%r11)
	movq	%r13, 88(%r11)
	movq	%r14, 96(%r11)
	movq	%r15, 104(%r11)
	pushfq
	popq	112(%r11)
	movq	arch_xsave_mask(%rip), %rax
	xorl	%edx, %edx
	xsave64	128(%r11)

	addq	$24, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	ret
END call_with_registers

/*
 * void trash_registers(void): change all registers that the C ABI lets a function change, except
 * vectors.
 */
FUNCTION trash_registers
	movq	$-1, %rax
	movq	%rax, %rcx
	movq	%rax, %rdx
	movq	%rax, %rsi
	movq	%rax, %rdi
	movq	%rax, %r8
	movq	%rax, %r9
	movq	%rax, %r10
	movq	%rax, %r11
	addq	%rax, %rax
	ret
END trash_registers

/*
 * void trash_vectors(void *): change the vector registers that every x86_64 has, as libc's string
 * functions do.
 */
FUNCTION trash_vectors
	pcmpeqd	%xmm0, %xmm0
	movdqa	%xmm0, %xmm1
	movdqa	%xmm0, %xmm2
	movdqa	%xmm0, %xmm3
	movdqa	%xmm0, %xmm4
	movdqa	%xmm0, %xmm5
	movdqa	%xmm0, %xmm6
	movdqa	%xmm0, %xmm7
	movdqa	%xmm0, %xmm8
	movdqa	%xmm0, %xmm9
	movdqa	%xmm0, %xmm10
	movdqa	%xmm0, %xmm11
	movdqa	%xmm0, %xmm12
	movdqa	%xmm0, %xmm13
	movdqa	%xmm0, %xmm14
	movdqa	%xmm0, %xmm15
	testb	$4, arch_xsave_mask(%rip)
	jz	1f
	vzeroupper
1:	fldpi
	fldpi
	addq	$1, (%rdi)
	jmp	trash_registers
END trash_vectors

	.bss
	.globl	trash_argument
	.balign	8
trash_argument:
	.zero	8

	.section .note.GNU-stack, "", @progbits
