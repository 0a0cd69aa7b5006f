/*
 * x86_64: reads memory that may be unmapped, and registers that the probe's C code does not use.
 *
 * If an instruction between arch_guarded_start and arch_guarded_end faults, the signal handler
 * (libmcount/system/fault.c) calls arch_fault_resume(). The thread then continues at the end of the
 * function that has faulted.
 */
#include "arch/x86_64/stub_macros.S"

	.text

	HIDDEN arch_guarded_start
arch_guarded_start:

/*
 * uint64_t arch_copy_guarded(void *to, const void *from, uint64_t len): returns the number of
 * copied bytes. After a fault, %rcx has the number of bytes that were not copied.
 */
HIDDEN_FUNCTION arch_copy_guarded
	movq	%rdx, %rcx
	rep movsb
	HIDDEN arch_copy_guarded_end
arch_copy_guarded_end:
	movq	%rdx, %rax
	subq	%rcx, %rax
	ret
END arch_copy_guarded

/*
 * int64_t arch_copy_string(void *to, const void *from, uint64_t max): see arch.h. Words are loaded
 * from aligned addresses, so that no word reaches into the page after the string.
 */
HIDDEN_FUNCTION arch_copy_string
	movq	%rdi, %r8
	addq	%rdi, %rdx			/* the end of the buffer @to */
	movabsq	$0x0101010101010101, %r9
	movabsq	$0x8080808080808080, %r10
1:	testb	$7, %sil
	jz	2f
	cmpq	%rdx, %rdi
	jae	4f
	movzbl	(%rsi), %eax
	testb	%al, %al
	jz	4f
	movb	%al, (%rdi)
	incq	%rsi
	incq	%rdi
	jmp	1b
2:	cmpq	%rdx, %rdi
	jae	3f
	movq	(%rsi), %rax
	movq	%rax, (%rdi)
	/* The lowest set bit of (x - 01..) & ~x & 80.. is at the first NUL. */
	movq	%rax, %rcx
	notq	%rcx
	subq	%r9, %rax
	andq	%rcx, %rax
	addq	$8, %rsi
	addq	$8, %rdi
	andq	%r10, %rax
	jz	2b
	bsfq	%rax, %rax
	shrl	$3, %eax
	leaq	-8(%rdi,%rax), %rdi
3:	cmpq	%rdx, %rdi
	cmovaq	%rdx, %rdi
4:	movq	%rdi, %rax
	subq	%r8, %rax
	ret
	HIDDEN arch_copy_string_fault
arch_copy_string_fault:
	movq	%r8, %rax
	subq	%rdi, %rax
	decq	%rax
	ret
END arch_copy_string

	HIDDEN arch_guarded_end
arch_guarded_end:

/* void arch_read_vector(void *to, unsigned index): stores %xmm<index> at @to. */
HIDDEN_FUNCTION arch_read_vector
	cmpl	$4, %esi
	jae	4f
	cmpl	$2, %esi
	jae	2f
	testl	%esi, %esi
	jnz	1f
	movups	%xmm0, (%rdi)
	ret
1:	movups	%xmm1, (%rdi)
	ret
2:	jne	3f
	movups	%xmm2, (%rdi)
	ret
3:	movups	%xmm3, (%rdi)
	ret
4:	cmpl	$6, %esi
	jae	6f
	cmpl	$4, %esi
	jne	5f
	movups	%xmm4, (%rdi)
	ret
5:	movups	%xmm5, (%rdi)
	ret
6:	jne	7f
	movups	%xmm6, (%rdi)
	ret
7:	cmpl	$7, %esi
	jne	8f
	movups	%xmm7, (%rdi)
	ret
	/* xmm8 to xmm15 can hold arguments of static probes, but no arguments of functions. */
	.irp	reg, 8, 9, 10, 11, 12, 13, 14
8:	cmpl	$\reg, %esi
	jne	8f
	movups	%xmm\reg, (%rdi)
	ret
	.endr
8:	movups	%xmm15, (%rdi)
	ret
END arch_read_vector

/* void arch_read_x87(void *to): stores the ten bytes of st(0), which stays on the stack. */
HIDDEN_FUNCTION arch_read_x87
	fstpt	(%rdi)
	fldt	(%rdi)
	ret
END arch_read_x87

	.section .note.GNU-stack, "", @progbits
