/*
 * x86_64: the code through which compiled programs enter the probe, and return from it.
 *
 * The common case of a call and of a return is in fast_stubs.S. All other cases are in C functions.
 * The entry stubs have this stack frame after SAVE_CALLER_SAVED (offsets from %rsp):
 *
 *	 0 .. 71   r11 r10 r9 r8 rdi rsi rdx rcx rax, which are a struct arch_regs
 *	72         return address of the stub's own call: inside the traced function
 *	80         mcount: words that the function has pushed; its return slot is 8(%rbp)
 *	           __fentry__: the function's return slot
 *
 * The stubs preserve all argument registers, rax (the number of vector arguments of a variadic
 * call), and r10 (the static chain, or the pointer of a realigned frame). arch_libcall must
 * preserve these registers and r11, since mold's PLT passes an index in r11. C code of the probe
 * does not use vector registers (-mgeneral-regs-only).
 *
 * The CPU predicts a `ret` by the calls that it has seen. The trampoline has not called the
 * function whose return slot was replaced, so the `ret` of that function would be mispredicted.
 * Therefore entry stubs and the trampoline go back to the program through a `call` instruction
 * (.Lresume), which stands directly before the first byte of the trampoline. This `call` makes the
 * trampoline the newest entry of the CPU's return stack. The target of the `call` is .Lgo, which
 * goes back to the program by an indirect jump.
 *
 * After an entry stub, the `ret` of the traced function is predicted. After the trampoline, the
 * `ret` of the traced function's caller is predicted. For each traced call, this `call` saves 8 ns
 * after the entry stub, and 2 to 5 ns after the trampoline (hot-path.md).
 */

#include "arch/x86_64/fast_stubs.S"
#include "arch/x86_64/stub_macros.S"
#include "arch/x86_64/xsave.h"
#include "libmcount/offsets.h"

#if THREAD_TOP > 127 || THREAD_NEXT > 127 || FRAME_RET > 127 || FRAME_BYTES > 127 || FRAME_SLOT != 0
#error "the trampoline's call frame information has one byte for each of these, and none for a frame's slot"
#endif

	.text

/*
 * Jumps to \is if 8(%rbp) is only a copy of the return address. In this case %r10 points past the
 * real return slot.
 */
	.macro IS_realigned is
	leaq	-17(%r10), %rax
	subq	%rbp, %rax
	cmpq	$REALIGN_MAX, %rax
	jb	\is
	.endm

/* Leaves the stub after the call has got a frame in the shadow stack. */
	.macro FAST_ENTERED
	cmpw	$1, THREAD_HAS_ASIDE_RECORDS(%rcx) /* sets the carry flag if the word is 0 */
	jae	.Lentered_with_aside
	movw	$0, THREAD_BUSY(%rcx)
	RESTORE_FAST
	jmp	.Lresume
	.cfi_adjust_cfa_offset FAST_SAVED
	.endm

/*
 * Leaves a stub after a C function. The result of the C function, in %eax, is not 0 if the C
 * function has replaced the return slot.
 */
	.macro LEAVE_ENTRY
	negl	%eax /* if %eax is not 0, sets the carry flag, which .Lgo tests */
	RESTORE_CALLER_SAVED
	jnz	.Lresume
	ret
	.endm

/*
 * A hook at the beginning of a function. The macro does not call C functions itself. After the
 * macro, at .L\name\()_slow, each hook has code that calls a C function.
 *
 * In some functions, the return slot is not the word \slot. MAY_BE_\name jumps to a label if the
 * hook may be in such a function. If this test is imprecise, IS_\name makes a slower and more
 * precise test. Otherwise IS_\name makes the same test.
 *
 * Saved registers change %rsp. Therefore four operands of ENTRY_HOOK stand for the same word:
 *
 *   \fast   after SAVE_FAST
 *   \all    after SAVE_CALLER_SAVED
 *   \look   after SAVE_FOR_LOOK_UP
 *   \slot   before any register is saved
 */
	.macro ENTRY_HOOK name, fast, all, look, slot
	cmpb	$0, probe + PROBE_PLAIN(%rip)
	je	.L\name\()_planned
	SAVE_FAST
	FAST_GUARD .L\name\()_unguarded
	MAY_BE_\name .L\name\()_maybe
.L\name\()_alike:
	FAST_ENTER \fast, FAST_SAVED(%rsp), .L\name\()_tail, .L\name\()_beyond, .L\name\()_other, .L\name\()_on
.L\name\()_entered:
	FAST_ENTERED
.L\name\()_beyond:
	FAST_ENTER_BEYOND \fast, FAST_SAVED(%rsp), .Ltoo_deep, .L\name\()_other
	jmp	.L\name\()_entered
.L\name\()_tail:
	FAST_TAIL_CALL \fast, .L\name\()_on, .L\name\()_other
.L\name\()_other:
	RESTORE_FAST
	SAVE_CALLER_SAVED
	leaq	\all, %rdi
	jmp	.Lenter_guarded
	.cfi_adjust_cfa_offset FAST_SAVED - REGS_BYTES
.L\name\()_maybe:
	.ifc	\name, realigned
	IS_\name .L\name\()_is
	jmp	.L\name\()_alike
	.endif
.L\name\()_is:
	movw	$0, THREAD_BUSY(%rcx)
.L\name\()_unguarded:
	RESTORE_FAST
	jmp	.L\name\()_slow
.L\name\()_planned:
	FAST_LOOK_UP \look, LOOK_UP_SAVED(%rsp), .L\name\()_maybe_quiet, .L\name\()_slow, .L\name\()_admitted
	MAY_BE_\name .L\name\()_maybe
	FAST_ENTER \fast, FAST_SAVED(%rsp), .L\name\()_tail, .L\name\()_beyond, .L\name\()_other
	FAST_ENTERED
.L\name\()_admitted:
	IS_\name .L\name\()_is
	FAST_ENTER \fast, FAST_SAVED(%rsp), .L\name\()_other, .L\name\()_other, .L\name\()_other
	FAST_ADMIT
	jmp	.Ladmitted
	.cfi_adjust_cfa_offset -FAST_SAVED
.L\name\()_maybe_quiet:
	FAST_QUIET \slot, .L\name\()_slow
.L\name\()_slow:
	.endm

/*
 * -pg: mcount is called after the prologue, so the return slot is found through %rbp. In a function
 * that aligns its stack, 8(%rbp) is only a copy of the return address, and the real slot is below
 * the target of %r10. A C function decides which slot to use: probe_entry_framed(slot, address in
 * the function, registers, other slot).
 */
	.macro MAY_BE_realigned maybe
	cmpq	%rbp, %r10
	ja	\maybe
	.endm

	/* With this alignment, calls that are not recorded take less time (hot-path.md). */
	.balign	64
FUNCTION mcount
	ENTRY_HOOK realigned, 8(%rbp), 8(%rbp), 8(%rbp), 8(%rbp)
	SAVE_CALLER_SAVED
	leaq	8(%rbp), %rdi
	movq	REGS_BYTES(%rsp), %rsi
	movq	%rsp, %rdx
	leaq	-8(%r10), %rcx
	call	probe_entry_framed
	LEAVE_ENTRY
END mcount
	.globl	_mcount
	.type	_mcount, @function
	.set	_mcount, mcount
	HIDDEN own_mcount
	.set	own_mcount, mcount /* the mcount of this file, even if other modules export one */

/*
 * -pg -mfentry: __fentry__ is called before the function pushes anything, so the function's return
 * slot is above the return address of __fentry__.
 */
	.macro MAY_BE_chain maybe
	cmpq	%r10, FAST_SAVED + 8(%rsp)
	je	\maybe
	.endm

	.macro IS_chain is
	MAY_BE_chain \is
	.endm

	HIDDEN arch_fentry
	.set	arch_fentry, __fentry__
	.balign	64
FUNCTION __fentry__
	ENTRY_HOOK chain, FAST_SAVED + 8(%rsp), REGS_BYTES + 8(%rsp), LOOK_UP_SAVED + 8(%rsp), 8(%rsp)
	SAVE_CALLER_SAVED
	leaq	REGS_BYTES + 8(%rsp), %rdi
	movq	REGS_BYTES(%rsp), %rsi
	cmpq	%r10, (%rdi)
	je	.Lmaybe_chain
.Lslot_known:
	movq	%rsp, %rdx
	call	probe_entry_looked_up
	LEAVE_ENTRY

/*
 * gcc preserves a static chain by `push %r10; call __fentry__; pop %r10`. In such a function the
 * return slot is one word higher. The stub looks for the pop only if the word in the usual slot
 * equals %r10.
 */
	.cfi_adjust_cfa_offset REGS_BYTES
.Lmaybe_chain:
	cmpw	$0x5a41, (%rsi)
	jne	.Lslot_known
	addq	$8, %rdi
	jmp	.Lslot_known
END __fentry__
	HIDDEN own___fentry__
	.set	own___fentry__, __fentry__

/*
 * If the fast path does not handle a call, probe_entry_guarded() enters the call. %rdi is the
 * address of the call's return slot. The guard of the thread, THREAD_BUSY, is already set.
 */
	.cfi_startproc
	.cfi_adjust_cfa_offset REGS_BYTES
.Lenter_guarded:
	movq	REGS_BYTES(%rsp), %rsi
	movq	%rsp, %rdx
	call	probe_entry_guarded
	LEAVE_ENTRY
	.cfi_endproc

/* A call beyond the limit of depth is not recorded. */
	.cfi_startproc
	.cfi_adjust_cfa_offset FAST_SAVED
.Ltoo_deep:
	cmpw	$0, THREAD_HAS_ASIDE_RECORDS(%rcx)
	jne	1f
	movw	$0, THREAD_BUSY(%rcx)
	RESTORE_FAST
	ret
	.cfi_adjust_cfa_offset FAST_SAVED
1:	RESTORE_FAST
	SAVE_CALLER_SAVED
	call	probe_leave
	RESTORE_CALLER_SAVED
	ret
	.cfi_endproc

/*
 * Leaves the stub after FAST_ADMIT. The function of the new call has PLAN_FILTER, so the call is
 * opted in. The stubs have skipped the calls around the new call. A skipped call has no frame. The
 * CPU predicts the `ret` of a skipped call only if the CPU's return stack still has the `call`
 * instruction of the skipped call. Therefore:
 *
 * - If a skipped call has not returned yet, the stub leaves by `ret`, and the trampoline leaves by
 *   a jump. The CPU then mispredicts one `ret`, the `ret` of the new call.
 * - If all skipped calls have returned, the stub leaves like the other stubs. The CPU then
 *   mispredicts nothing.
 *
 * THREAD_ALONE_SLOT has the return slot of the last call that FAST_LOOK_UP has skipped. If this
 * slot is above the return slot of the new call, the stub assumes that the skipped call has not
 * returned yet. But one skipped call can have many opted-in calls inside, for example the skipped
 * call of main(). Leaving by `ret` then costs one misprediction for each of the opted-in calls, and
 * saves one misprediction for the skipped call, which returns only once. So after each skipped
 * call, the stub leaves by `ret` at most four times. The lowest bits of THREAD_ALONE_SLOT count
 * these times.
 */
	.cfi_startproc
	.cfi_adjust_cfa_offset FAST_SAVED
.Ladmitted:
	cmpw	$0, THREAD_HAS_ASIDE_RECORDS(%rcx)
	jne	.Lentered_with_aside
	movw	$0, THREAD_BUSY(%rcx)
	movq	THREAD_ALONE_SLOT(%rcx), %rdx
	movq	FRAME_SLOT(%rdi), %rax
	addq	$8, %rax
	cmpq	%rax, %rdx
	jb	1f
	testb	$4, %dl
	jnz	1f
	incq	THREAD_ALONE_SLOT(%rcx)
	RESTORE_FAST
	ret
	.cfi_adjust_cfa_offset FAST_SAVED
1:	RESTORE_FAST
	stc
	jmp	.Lresume
	.cfi_endproc

/*
 * Leaves the stub after the call has got its frame, if a signal handler has interrupted the stub.
 * The records of the handler's calls are in a private buffer (libmcount/hot/aside.c). probe_leave()
 * moves these records to the ring.
 */
	.cfi_startproc
	.cfi_adjust_cfa_offset FAST_SAVED
.Lentered_with_aside:
	RESTORE_FAST
	SAVE_CALLER_SAVED
	call	probe_leave
	RESTORE_CALLER_SAVED
	stc
	jmp	.Lresume
	.cfi_endproc

/*
 * Entry stubs go back into the traced function through .Lresume, which makes the trampoline the
 * newest entry of the CPU's return stack. When the traced function returns, the trampoline runs. In
 * the trampoline, %rsp is one word above the function's return slot. The trampoline preserves all
 * registers. Return values are in rax, rdx, xmm0, xmm1 and st0-1, and -fipa-ra lets callers keep
 * data in the other registers.
 *
 * Unwinders find the trampoline as the caller of a function whose return slot was replaced. The
 * trampoline's call frame information names arch_return_caller as the caller of the trampoline.
 * arch_return_caller has only call frame information: a DWARF expression that looks the slot up in
 * the shadow stacks, as libmcount/hot/frames.c does. So C++ exceptions, pthread_cancel(3),
 * backtrace(3) and debuggers see the program's own return addresses.
 *
 * The trampoline's call frame information is valid at the trampoline's first byte, where each
 * unwinder arrives, and at the preceding byte. The expression of arch_return_caller must not
 * contain addresses. So the expression computes the address of probe_threads from the program
 * counter. The word 16 bytes before arch_return_caller holds the distance from this word to
 * probe_threads.
 *
 *	 slot = (CFA - 8) & -8
 *	 for (t = probe_threads; t; t = t->next)
 *		if (slot >= t->top->slot)
 *			for (f = t->top; f->slot <= slot; f--)
 *				;
 *			if ((++f)->slot == slot)
 *				return f->ret
 *	 return 0
 *
 * Inner frames have lower slots. The outermost frame is a sentinel, whose slot is higher than all
 * others. If several frames have the same slot (tail calls), the outermost of these frames holds
 * the program's address. Offsets in the expression are one byte long.
 *
 * An unwinder meets two frames: that of the trampoline, and that of arch_return_caller. In both
 * frames, the CFA is %rsp. libgcc tells frames apart by their CFAs, so the two CFAs must differ.
 * Therefore the trampoline's rules say that %rsp of arch_return_caller is CFA + 4. libunwind does
 * not use this rule: it always takes the CFA of a frame as the stack pointer of the frame's caller.
 * Both ways lead to the same values, because arch_return_caller drops the lowest bits of its CFA.
 */
	.balign	16
	.long	probe_threads - .
	.fill	11, 1, 0xcc
	.cfi_startproc
	.cfi_def_cfa %rsp, 0
	.cfi_escape 0x16, 7, 3, 0x09, 0xf8, 0x1a /* DW_CFA_val_expression: %rsp = CFA & -8 */
	.cfi_escape 0x16, 16, 68		/* DW_CFA_val_expression: %rip */
	.cfi_escape 0x38, 0x1c, 0x09, 0xf8, 0x1a /* lit8; minus; const1s -8; and */
	.cfi_escape 0x12			/* dup (libgcc's pick cannot reach the lowest element) */
	.cfi_escape 0x80, 0x70			/* breg16 -16 */
	.cfi_escape 0x12, 0x94, 4, 0x22, 0x06	/* dup; deref_size 4; plus; deref: t */
	.cfi_escape 0x12, 0x28, 3, 0		/* L1: dup; bra HAVE */
	.cfi_escape 0x2f, 48, 0			/* skip END */
	.cfi_escape 0x14, 0x14, 0x23, THREAD_TOP	/* HAVE: over; over; plus_uconst top */
	.cfi_escape 0x06, 0x06, 0x2d		/* deref; deref; lt */
	.cfi_escape 0x28, 23, 0			/* bra NEXT */
	.cfi_escape 0x12, 0x23, THREAD_TOP, 0x06	/* dup; plus_uconst top; deref: f */
	.cfi_escape 0x12, 0x06, 0x15, 3, 0x2c	/* L2: dup; deref; pick 3; le */
	.cfi_escape 0x28, 17, 0			/* bra DOWN */
	.cfi_escape 0x23, FRAME_BYTES, 0x12, 0x06	/* plus_uconst sizeof(frame); dup; deref */
	.cfi_escape 0x15, 3, 0x29		/* pick 3; eq */
	.cfi_escape 0x28, 13, 0			/* bra FOUND */
	.cfi_escape 0x13			/* drop */
	.cfi_escape 0x23, THREAD_NEXT, 0x06	/* NEXT: plus_uconst next; deref */
	.cfi_escape 0x2f, 0xd2, 0xff		/* skip L1 */
	.cfi_escape 0x08, FRAME_BYTES, 0x1c	/* DOWN: const1u sizeof(frame); minus */
	.cfi_escape 0x2f, 0xe1, 0xff		/* skip L2 */
	.cfi_escape 0x23, FRAME_RET, 0x06	/* FOUND: plus_uconst ret; deref; END */
	.byte	0xcc
	HIDDEN arch_return_caller
	.type	arch_return_caller, @function
arch_return_caller: /* has only unwind information: its code is never executed */
	.fill	11, 1, 0xcc
END arch_return_caller
.Lresume:
	.byte	0xe8, .Lgo - arch_return_trampoline, 0, 0 /* the first four bytes of `call .Lgo` */
	.cfi_startproc
	.cfi_def_cfa %rsp, 0
	.cfi_escape 0x16, 7, 2, 0x34, 0x22	/* DW_CFA_val_expression: %rsp = CFA + 4 */
	/* DW_CFA_val_expression: %rip = breg16 -16, the address of arch_return_caller */
	.cfi_escape 0x16, 16, 2, 0x80, 0x70
	.byte	0 /* the last byte of call .Lgo */
	HIDDEN arch_return_trampoline
	.type	arch_return_trampoline, @function
arch_return_trampoline:
	pushq	%rax /* makes room for the address at which execution continues */
	.cfi_undefined %rip
	.cfi_adjust_cfa_offset 8
	SAVE_FAST
	FAST_LEAVE FAST_SAVED(%rsp), .Lreturned_unguarded, .Lreturned_beyond, .Lreturned_written, .Lreturned_other
.Lreturned:
	cmpw	$0, THREAD_HAS_ASIDE_RECORDS(%rcx) /* clears the carry in any case */
	jne	.Lreturned_with_aside
	movw	$0, THREAD_BUSY(%rcx)
	RESTORE_FAST
	jmp	.Lresume
/*
 * The stack holds the trampoline's address, and above it the address at which execution continues.
 * The address of continuation is read after it has been removed from the stack. It is then in the
 * red zone, into which no signal handler writes.
 *
 * The carry flag is set on the way into a function, and clear on the way out. Each way has its own
 * jump. If both ways used the same jump, it would have too many targets, and the CPU could not
 * predict the target. This would cost 3 ns per call.
 */
.Lgo:
	leaq	16(%rsp), %rsp
	jc	1f
	notrack jmp *-8(%rsp)
1:	notrack jmp *-8(%rsp)
	.cfi_adjust_cfa_offset FAST_SAVED
.Lreturned_with_aside:
	RESTORE_FAST
	SAVE_CALLER_SAVED
	call	probe_leave
	jmp	.Lback
	.cfi_adjust_cfa_offset FAST_SAVED - REGS_BYTES
.Lreturned_beyond:
	FAST_LEAVE_BEYOND FAST_SAVED(%rsp), .Lreturned_written, .Lreturned_maybe_admitted, .Lreturned_other
	jmp	.Lreturned
.Lreturned_maybe_admitted:
	FAST_LEAVE_ADMITTED FAST_SAVED(%rsp), .Lreturned_other
	cmpw	$0, THREAD_HAS_ASIDE_RECORDS(%rcx)
	jne	.Lreturned_with_aside
	movw	$0, THREAD_BUSY(%rcx)
	RESTORE_FAST
	leaq	8(%rsp), %rsp
	notrack jmp *-8(%rsp) /* as in .Lgo */
	.cfi_adjust_cfa_offset FAST_SAVED
.Lreturned_other:
	RESTORE_FAST
	SAVE_CALLER_SAVED
	leaq	REGS_BYTES(%rsp), %rdi
	movq	%rsp, %rsi
	call	probe_exit_guarded
	movq	%rax, REGS_BYTES(%rsp)
	jmp	.Lback
	.cfi_adjust_cfa_offset FAST_SAVED - REGS_BYTES
.Lreturned_unguarded:
	RESTORE_FAST
	SAVE_CALLER_SAVED
	leaq	REGS_BYTES(%rsp), %rdi
	movq	%rsp, %rsi
	call	probe_exit
	movq	%rax, REGS_BYTES(%rsp)
.Lback:
	RESTORE_CALLER_SAVED
	clc
	jmp	.Lresume
END arch_return_trampoline

/*
 * A library call. The stub of arch_write_call_stub() has pushed the call site's index below the
 * return slot of the call. probe_libcall(return slot, index, registers) returns the address of the
 * library function in %rax. This address overwrites the index on the stack. %rdx is not 0 when
 * probe_libcall() has replaced the return slot.
 */
HIDDEN_FUNCTION arch_libcall, .cfi_adjust_cfa_offset 8
	SAVE_CALLER_SAVED
	leaq	REGS_BYTES + 8(%rsp), %rdi
	movq	REGS_BYTES(%rsp), %rsi
	movq	%rsp, %rdx
	call	probe_libcall
	movq	%rax, REGS_BYTES(%rsp)
	negl	%edx
	RESTORE_CALLER_SAVED
	jnz	.Lresume
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	notrack jmp *-8(%rsp) /* the address is in the red zone, where no signal handler writes */
END arch_libcall

/*
 * Emits unwind information as for a signal handler. The program's stack pointer is \cfa bytes above
 * the stub's own stack pointer. \ip is a directive (.cfi_*) or a macro that tells unwinders the
 * program's %rip.
 */
	.macro INTERRUPTED cfa, ip:vararg
	.cfi_signal_frame
	.cfi_def_cfa %rsp, \cfa
	\ip
	.endm

/*
 * An event of the program: a jump in the program's code leads to a stub (arch_write_point_stub),
 * which calls arch_point. All registers, the flags and the red zone are preserved. The stack
 * contains:
 *
 *	 (%rsp)    return address, into the stub
 *	 8         the event's id
 *	 16        the address of the jump in the program
 *	 24 .. 151 red zone
 *	 152       the program's stack pointer points here
 *
 * For unwinders, the stub looks like a signal handler that has interrupted the program at the jump.
 * The C function is probe_point(event, stack pointer).
 */
HIDDEN_FUNCTION arch_point, INTERRUPTED 152, .cfi_offset %rip, -136
	pushfq
	.cfi_adjust_cfa_offset 8
	SAVE_CALLER_SAVED
	cld
	movl	REGS_BYTES + 16(%rsp), %edi
	leaq	REGS_BYTES + 160(%rsp), %rsi
	call	probe_point
	RESTORE_CALLER_SAVED
	popfq
	.cfi_adjust_cfa_offset -8
	ret
END arch_point

/*
 * Like arch_point, for an event whose arguments may be in any register and on the stack. The words
 * below the red zone become a struct arch_point. The stack contains:
 *
 *	 (%rsp)    return address, into the stub
 *	 8         the distance from the return address to the places of the arguments
 *	 16        the event's id
 *	 24        the address of the jump in the program
 *	 32 .. 159 red zone
 *	 160       the program's stack pointer points here
 *
 * The C function is probe_point_args(struct arch_point *).
 */
HIDDEN_FUNCTION arch_point_args, INTERRUPTED 160, .cfi_offset %rip, -136
	pushfq
	.cfi_adjust_cfa_offset 8
	SAVE_CALLER_SAVED
	PUSH	rbx, rbp, r12, r13, r14, r15
	cld
	movq	%rsp, %rdi
	call	probe_point_args
	leaq	48(%rsp), %rsp /* drops rbx, rbp, r12 to r15, which C functions preserve */
	.cfi_adjust_cfa_offset -48
	RESTORE_CALLER_SAVED
	popfq
	.cfi_adjust_cfa_offset -8
	ret
END arch_point_args

	.macro RESUMES_AT_JUMP
	/* DW_CFA_val_expression: %rip. The expression's stack begins with the CFA */
	.cfi_escape 0x16, 16, 9
	.cfi_escape 0x0a, 136, 0, 0x1c, 0x06	/* const2u 136; minus; deref: return address */
	.cfi_escape 0x08, 27, 0x1c, 0x06	/* const1u 27; minus; deref */
	.endm

/*
 * The entry of a function that was compiled without hooks. A jump in the function leads to a stub
 * (arch_write_entry_stub), which calls arch_entry. The jump may be after the function's first
 * instruction, where the function may use any register, the flags and the red zone. So all of these
 * are preserved. The stack contains:
 *
 *	 (%rsp)    return address, into the stub. Before this address the stub has its data:
 *	             35 bytes before: the address by which records identify the function
 *	             27 bytes before: the address of the jump
 *	             19 bytes before: the distance of the return slot from the program's stack
 *	             pointer (32 bits)
 *	 8 .. 135  red zone
 *	 136       the program's stack pointer points here
 *
 * For unwinders, the stub looks like a signal handler that has interrupted the program at the jump.
 */
HIDDEN_FUNCTION arch_entry, INTERRUPTED 136, RESUMES_AT_JUMP
	SAVE_WITH_FLAGS
	movq	REGS_BYTES + 8(%rsp), %rcx
	movl	-19(%rcx), %eax
	movq	-35(%rcx), %rsi
	leaq	REGS_BYTES + 16 + 128(%rsp, %rax), %rdi
	cmpb	$0, probe_skips(%rip)
	jne	.Lmaybe_unwanted
.Lwanted:
	movq	%rsp, %rdx
	call	probe_entry
	testl	%eax, %eax
	jnz	.Lreplaced
.Lunwanted:
	.cfi_remember_state
	RESTORE_WITH_FLAGS
	ret
	.cfi_restore_state
.Lreplaced:
	.cfi_remember_state
	RESTORE_WITH_FLAGS
	jmp	.Lresume
	.cfi_restore_state
/*
 * Looks the call up in thread->calls, with the tests of FAST_LOOK_UP. If the call is left alone and
 * ends no frames, the stub returns, and the call gets no frame.
 */
.Lmaybe_unwanted:
	FAST_SELF %r11, .Lwanted
	movq	THREAD_TOP(%r11), %rdx
	cmpq	%rdi, FRAME_SLOT(%rdx)
	jbe	.Lwanted
	movl	%esi, %edx
	andl	$CALLS_MASK, %edx
	addq	THREAD_CALLS(%r11), %rdx
	cmpq	%rsi, PLACE_ALONE(%rdx)
	jne	.Lwanted
	jmp	.Lunwanted
END arch_entry

/*
 * clang's XRay compiles sleds into a function: one at its start, and one before each of its ends.
 * No return address is replaced. The sled at the start becomes a call of arch_xray_entry. The C
 * function is probe_xray_entry(return slot, address in the function, registers).
 */
HIDDEN_FUNCTION arch_xray_entry
	SAVE_CALLER_SAVED
	leaq	REGS_BYTES + 8(%rsp), %rdi
	movq	REGS_BYTES(%rsp), %rsi
	movq	%rsp, %rdx
	call	probe_xray_entry
	RESTORE_CALLER_SAVED
	ret
END arch_xray_entry

/*
 * Runs in place of a return instruction: the sled becomes a jump to arch_xray_exit. All registers
 * are preserved, as in the trampoline. The C function is probe_xray_exit(return slot, registers).
 */
HIDDEN_FUNCTION arch_xray_exit
	SAVE_CALLER_SAVED
	leaq	REGS_BYTES(%rsp), %rdi
	movq	%rsp, %rsi
	call	probe_xray_exit
	RESTORE_CALLER_SAVED
	ret
END arch_xray_exit

/*
 * Called before a jump to another function (a tail call). All registers are preserved, because they
 * may contain arguments of the other function. The flags are preserved, because the jump may be
 * conditional. The C function is probe_xray_exit(return slot, NULL).
 */
HIDDEN_FUNCTION arch_xray_tail
	SAVE_WITH_FLAGS
	leaq	REGS_BYTES + 16(%rsp), %rdi
	xorl	%esi, %esi
	call	probe_xray_exit
	RESTORE_WITH_FLAGS
	ret
END arch_xray_tail

/*
 * See arch.h. %rdi: fn, %rsi: arg. XSAVE needs an area that is aligned to 64 bytes, and zeros in
 * the header of the area.
 */
HIDDEN_FUNCTION arch_call_preserving_vectors
	PUSH	rbp
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
	.irp	at, 512, 520, 528, 536, 544, 552, 560, 568
	movq	%rdx, \at(%rsp)
	.endr
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

/* The pattern that fills the vector registers before the call of a function. */
	.balign	32
vector_pattern:
	.quad	0x5aa5c33c0ff09669, 0x96690ff0c33c5aa5, 0xa55a3cc3f00f6996, 0x6996f00f3cc3a55a

	.macro FILL_VECTORS load, kind
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\load	vector_pattern(%rip), %\kind\n
	.endr
	.endm

/*
 * arch_vectors_around(fn, arg, before, after): fills the vector registers, stores them to @before,
 * calls @fn(@arg), and stores them to @after. Both areas have arch_xsave_bytes bytes, 64-byte
 * aligned, with zeros in XSAVE's header.
 */
HIDDEN_FUNCTION arch_vectors_around
	PUSH	rbp
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	.cfi_offset %rbx, -24
	pushq	%rcx
	movq	%rdi, %rbx
	movq	%rsi, %rdi
	movq	%rdx, %rcx
	movq	arch_xsave_mask(%rip), %rax
	testb	$XSAVE_AVX, %al
	jz	1f
	FILL_VECTORS vmovdqu, ymm
	jmp	2f
1:	FILL_VECTORS movdqu, xmm
2:	xorl	%edx, %edx
	xsave64	(%rcx)
	call	*%rbx
	movq	(%rsp), %rcx
	movq	arch_xsave_mask(%rip), %rax
	xorl	%edx, %edx
	xsave64	(%rcx)
	movq	-8(%rbp), %rbx
	leave
	.cfi_def_cfa %rsp, 8
	ret
END arch_vectors_around

/*
 * See arch.h. %rdi: fn; %rsi, %rdx: its arguments; %rcx: the address of the `ret` that fn returns
 * to; %r8: the value of %r11 for fn. The `ret` at %rcx continues at label 1, the second address on
 * the stack.
 */
HIDDEN_FUNCTION arch_call_returning_through
	PUSH	rbp
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	subq	$8, %rsp
	leaq	1f(%rip), %rax
	pushq	%rax
	pushq	%rcx
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%r8, %r11
	notrack jmp *%rax
1:	leave
	.cfi_def_cfa %rsp, 8
	ret
END arch_call_returning_through

	.section .note.GNU-stack, "", @progbits
