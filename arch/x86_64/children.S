/* x86_64: syscall(3) and vfork(2), which are interposed because they make children. */
#include "arch/x86_64/stub_macros.S"

	.text

/* Moves the arguments of syscall(3), six at most, to the registers of a system call. */
	.macro ARGUMENTS
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	movq	%r9, %r8
	.endm

/*
 * syscall(3) as in glibc. Before a system call that may make a child or forbid other system calls,
 * probe_syscall() prepares the probe (libmcount/program/clone.c). If probe_syscall() returns 1, the
 * code at label 4 makes the system call, and the new child calls thread_after_fork(). The code at
 * label 4 has no data on the stack during the system call, since the child may have another stack.
 */
FUNCTION syscall
	.irp	number, 56, 57, 58, 435, 157 /* clone, fork, vfork, clone3, prctl */
	cmpq	$\number, %rdi
	je	1f
	.endr
	cmpq	$317, %rdi /* seccomp */
	jne	2f
1:	SAVE_CALLER_SAVED
	call	probe_syscall
	cmpl	$1, %eax
	RESTORE_CALLER_SAVED
	ja	6f
	je	4f
2:	ARGUMENTS
	movq	8(%rsp), %r9
	syscall
	cmpq	$-4095, %rax
	jae	3f
	ret
3:	movq	%rax, %rdi
	jmp	probe_syscall_failed
4:	ARGUMENTS
	movl	$1, %r9d
	syscall
	cmpq	$-4095, %rax
	jae	3b
	testq	%rax, %rax
	jnz	5f
	PUSH	rax
	call	thread_after_fork
	POP	rax
5:	ret
6:	movq	%rdi, %rax
	movq	%rsi, %rdi
	xorl	%esi, %esi
	movq	%rcx, %rdx
	movq	%r8, %r10
	jmp	lend_and_call
END syscall

/*
 * vfork(2). The child's calls overwrite our return address on the stack, so registers keep that
 * address and the result of lend_prepare() (libmcount/program/lend.h).
 */
FUNCTION vfork
	movl	$58, %eax
	jmp	lend_and_call
END vfork
	.globl	__vfork
	.set	__vfork, vfork
	HIDDEN own_vfork
	.set	own_vfork, vfork

/*
 * Makes a child by a system call. The number of the system call is in %rax. The call's arguments, at
 * most four, are in the argument registers of system calls. The child runs on its parent's stack.
 */
	.type	lend_and_call, @function
	.balign	16
lend_and_call:
	.cfi_startproc
	leaq	(%rsp), %r8
	SAVE_CALLER_SAVED
	movq	%r8, %rdi
	call	lend_prepare
	movq	%rax, 2 * 8(%rsp) /* RESTORE_CALLER_SAVED loads the stored word into %r9 */
	RESTORE_CALLER_SAVED
	POP	r8
	.cfi_register %rip, %r8
	syscall
	PUSH	r8
	.cfi_offset %rip, -8
	PUSH	rax
	movq	%r9, %rdi
	testq	%rax, %rax
	jnz	1f
	call	lend_begin
	jmp	2f
1:	call	lend_end
2:	POP	rax
	cmpq	$-4095, %rax
	jae	3f
	/*
	 * The child's calls overwrite the return address on the CPU's shadow stack, so a `ret` of
	 * the parent would fault. Instead, the code at label 4 jumps to the return address. Without
	 * a shadow stack, rdsspq leaves 0 in %rdx, and `ret` works.
	 */
	xorl	%edx, %edx
	rdsspq	%rdx
	testq	%rdx, %rdx
	jnz	4f
	ret
3:	movq	%rax, %rdi
	jmp	probe_syscall_failed
4:	movl	$1, %edx
	incsspq	%rdx
	POP	rdx
	jmp	*%rdx
	.cfi_endproc
	.size	lend_and_call, . - lend_and_call

	.section .note.GNU-stack, "", @progbits
