/*
 * x86_64: the common case of a call and of a return, as macros of stubs.S. In the common case the
 * ENTRY records of all open calls are written, and there is room for a frame and a record. Also,
 * the factor that converts ticks of the CPU's counter to ns is not too old. The macros also handle
 * calls that are left alone, calls that are nested too deeply, and calls whose records wait because
 * of -t. In any other case the stub calls libmcount/hot/entry.c and exit.c. libmcount/hot/fast.h
 * contains the common case in C, and explains the steps.
 *
 * The macros use five registers and make no call. For a call and its return they execute 101
 * instructions, and 20 more that save and restore registers.
 */
#ifndef UTRAIL_ARCH_X86_64_FAST_STUBS_H
#define UTRAIL_ARCH_X86_64_FAST_STUBS_H

#include "arch/x86_64/stub_macros.S"
#include "libmcount/offsets.h"

#define FAST_SAVED (5 * 8)

#define LOOK_UP_SAVED (3 * 8)

/* Saves the first three registers of SAVE_FAST. */
	.macro SAVE_FOR_LOOK_UP
	PUSH	rax, rdx, rcx
	.endm

	.macro SAVE_FAST
	PUSH	rax, rdx, rcx, rdi, rsi
	.endm

	.macro RESTORE_FOR_LOOK_UP
	POP	rcx, rdx, rax
	.endm

	.macro RESTORE_FAST
	POP	rsi, rdi, rcx, rdx, rax
	.endm

/*
 * Sets \to to this thread's state. Goes to \busy if there is no state yet, or if the thread is
 * inside of a hook.
 */
	.macro FAST_SELF to, busy
	movq	self@gottpoff(%rip), \to
	movq	%fs:(\to), \to
	testq	\to, \to
	jz	\busy
	cmpw	$0, THREAD_BUSY(\to)
	jne	\busy
	.endm

/*
 * Sets the guard of this thread. Sets %rcx to the thread's state, and %rdi to the innermost frame.
 * The store to the guard has the full width of the guard. If this store were narrower than a later
 * load of the guard, the load would wait until the store has reached the cache.
 */
	.macro FAST_GUARD unguarded
	FAST_SELF %rcx, \unguarded
	movw	$1, THREAD_BUSY(%rcx)
	movq	THREAD_TOP(%rcx), %rdi
	.endm

/* Sets %rsi to the address after the new record. */
	.macro FAST_ROOM other
	movq	THREAD_AT(%rcx), %rsi
	addq	$RECORD_BYTES, %rsi
	cmpq	THREAD_END(%rcx), %rsi
	ja	\other
	.endm

/*
 * Sets %rax to the time, as hot_clock() does, and overwrites %rdx. Goes to \other if clock_refit()
 * must be called, or if the time would be earlier than the time of the thread's last record.
 */
	.macro FAST_CLOCK other
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	subq	THREAD_BASE_COUNTER(%rcx), %rax
	cmpq	THREAD_REFIT_TICKS(%rcx), %rax
	jae	\other
	imulq	THREAD_MULT(%rcx), %rax
	shrq	$32, %rax
	addq	THREAD_BASE_NS(%rcx), %rax
	cmpq	THREAD_LAST_NS(%rcx), %rax
	jb	\other
	movq	%rax, THREAD_LAST_NS(%rcx)
	.endm

/* Publishes the new record. %rdi: the new innermost frame; %rsi: the address after the record. */
	.macro FAST_COMMIT
	movq	%rdi, THREAD_TOP(%rcx)
	movq	%rdi, THREAD_WRITTEN(%rcx)
	movq	THREAD_RING(%rcx), %rdx
	movq	%rsi, THREAD_AT(%rcx)
	addq	THREAD_POSITION(%rcx), %rsi
	movq	%rsi, RING_HEAD(%rdx)
	.endm

/*
 * Under a plan: looks up the call of \addr, with return slot \slot, in thread->calls. The macro
 * uses these two operands only after SAVE_FOR_LOOK_UP has changed %rsp. While probe_skips is false,
 * the macro goes to \useless without a look-up.
 *
 * - If a call is to get no frame and no record, and ends no frames, the macro itself returns from
 *   the stub, without a taken jump.
 * - A recorded call continues after the macro. The guard is set as by FAST_GUARD, and registers are
 *   saved as by SAVE_FAST.
 * - If a call changes the thread's state from THREAD_READY to THREAD_OPEN (FAST_ADMIT), the macro
 *   goes to \admitted, with the same guard and the same saved registers.
 * - Any other call goes to \slow. The saved registers are restored before the jump.
 */
	.macro FAST_LOOK_UP slot, addr, useless, slow, admitted
	cmpb	$0, probe_skips(%rip)
	je	\useless
	SAVE_FOR_LOOK_UP
	FAST_SELF %rcx, 8f
	movq	\addr, %rax
	movl	%eax, %edx
	andl	$CALLS_MASK, %edx
	addq	THREAD_CALLS(%rcx), %rdx
	cmpq	%rax, (%rdx)
	je	7f
	cmpq	%rax, PLACE_ALONE(%rdx)
	jne	6f
	movq	THREAD_TOP(%rcx), %rdx
	leaq	\slot, %rax
	cmpq	%rax, FRAME_SLOT(%rdx)
	jbe	8f
	movq	%rax, THREAD_ALONE_SLOT(%rcx)
	RESTORE_FOR_LOOK_UP
	ret
	.cfi_adjust_cfa_offset LOOK_UP_SAVED
8:	RESTORE_FOR_LOOK_UP
	jmp	\slow
	.cfi_adjust_cfa_offset LOOK_UP_SAVED
6:	negq	%rax
	cmpq	%rax, (%rdx)
	jne	8b
	FAST_BEGIN 8b
	jmp	\admitted
	.cfi_adjust_cfa_offset LOOK_UP_SAVED - FAST_SAVED
7:	FAST_BEGIN 8b
	.endm

/*
 * Does the remaining part of FAST_GUARD and of SAVE_FAST, after FAST_LOOK_UP has found that the
 * call must be recorded.
 */
	.macro FAST_BEGIN other
	movzwl	probe + PROBE_TRACING(%rip), %eax
	cmpl	$0x101, %eax /* tracing and is_on are both 1 */
	jne	\other
	movw	$1, THREAD_BUSY(%rcx)
	PUSH	rdi, rsi
	movq	THREAD_TOP(%rcx), %rdi
	.endm

/*
 * The code at \useless of FAST_LOOK_UP. Skips the call with return slot \slot if probe.tracing is
 * false and the call ends no frames. Otherwise goes to \other.
 */
	.macro FAST_QUIET slot, other
	cmpb	$0, probe + PROBE_TRACING(%rip)
	jne	\other
	PUSH	rax, rcx
	FAST_SELF %rcx, 8f
	movq	THREAD_TOP(%rcx), %rcx
	leaq	\slot, %rax
	cmpq	%rax, FRAME_SLOT(%rcx)
	jbe	8f
	POP	rcx, rax
	ret
	.cfi_adjust_cfa_offset 16
8:	POP	rcx, rax
	jmp	\other
	.endm

/*
 * Makes the frame after the one at %rdi, for a call that begins at the time %rax. Sets %rdi to the
 * new frame and %rax to its data word; overwrites %rdx. The upper bits of the data word are the
 * address. The lower bits are those of the caller's data word, with 1 added to the depth. The depth
 * may wrap (state_limit_alike() in libmcount/hot/state.h).
 */
	.macro FAST_FRAME slot, addr
	movq	\slot, %rdx
	movq	%rax, FRAME_BYTES + FRAME_TIME(%rdi)
	movq	%rdx, FRAME_BYTES + FRAME_RET(%rdi)
	movzwl	FRAME_DATA(%rdi), %edx
	movq	\addr, %rax
	addw	$RECORD_DEPTH_ONE, %dx
	shlq	$RECORD_ADDR_SHIFT, %rax
	orq	%rdx, %rax
	movq	%rax, FRAME_BYTES + FRAME_DATA(%rdi)
	addq	$FRAME_BYTES, %rdi
	.endm

/* Does the work of callers_know(). Goes to \other if the return address must not be replaced. */
	.macro FAST_CALLER slot, other
	movq	\slot, %rax
	movq	%rax, %rdx
	subq	callers(%rip), %rdx
	cmpq	callers + CALLERS_BYTES(%rip), %rdx
	jb	9f
	shrq	$CALLERS_PAGE_SHIFT, %rax
	leaq	callers + CALLERS_AT(%rip), %rsi
	movl	%eax, %edx
	andl	$CALLERS_MASK, %edx
	cmpq	%rax, (%rsi, %rdx, 8)
	jne	\other
9:
	.endm

/*
 * Enters a call, after FAST_GUARD or FAST_LOOK_UP. When the macro jumps to \other, \beyond or
 * \tail, the guard is set, but the call has no frame and no record.
 *
 *   \slot, \addr  operand of the return slot; address of the function
 *   \beyond       goes on with FAST_ENTER_BEYOND
 *   \tail         goes on with FAST_TAIL_CALL
 *   \other        goes on with C code
 *   \on           a label that this macro defines for FAST_TAIL_CALL; may be blank
 */
	.macro FAST_ENTER slot, addr, tail, beyond, other, on
	FAST_CALLER \slot, \other
	leaq	\slot, %rsi
	cmpq	%rsi, FRAME_SLOT(%rdi)
	jbe	\tail
	.ifnb	\on
\on:
	.endif
	cmpq	THREAD_LOW(%rcx), %rsi
	jb	\other
	cmpq	THREAD_FAST_LIMIT(%rcx), %rdi
	jae	\beyond
	movq	%rsi, FRAME_BYTES + FRAME_SLOT(%rdi)
	FAST_ROOM \other
	FAST_CLOCK \other
	movq	%rax, -16(%rsi)
	FAST_FRAME \slot, \addr
	movq	%rax, -8(%rsi)
	FAST_COMMIT
	leaq	arch_return_trampoline(%rip), %rax
	movq	%rax, \slot
	.endm

/*
 * Looks at a call whose return slot is not below the slot of the innermost frame. The comparison of
 * the two slots has set the CPU flags. If the function of the innermost frame has called the new
 * function by a jump (a tail call), goes to \on. In this case the frame stays open, as in
 * frames_make_way(). Otherwise goes to \other.
 */
	.macro FAST_TAIL_CALL slot, on, other
	jne	\other
	leaq	arch_return_trampoline(%rip), %rax
	cmpq	%rax, \slot
	jne	\other
	cmpq	$0, FRAME_RET(%rdi)
	jne	\on
	jmp	\other
	.endm

/* Does the work of planned_admit(), after FAST_ENTER. */
	.macro FAST_ADMIT
	movq	THREAD_PLANNED(%rcx), %rdx
	movw	$1, PLANNED_IN(%rdx)
	addq	$PLANNED_PASS, %rdx
	movq	%rdx, THREAD_CALLS(%rcx)
	.endm

/*
 * Enters a call whose ENTRY record is held back by -t. If the call is too deep, goes to \too_deep.
 * %rsi: the return slot of the call
 */
	.macro FAST_ENTER_BEYOND slot, addr, too_deep, other
	cmpq	THREAD_DROP_LIMIT(%rcx), %rdi
	jae	\too_deep
	cmpq	THREAD_HELD_LIMIT(%rcx), %rdi
	jae	\other
	movq	%rsi, FRAME_BYTES + FRAME_SLOT(%rdi)
	FAST_CLOCK \other
	FAST_FRAME \slot, \addr
	movq	%rdi, THREAD_TOP(%rcx)
	leaq	arch_return_trampoline(%rip), %rax
	movq	%rax, \slot
	.endm

/*
 * Ends a call. \slot: the return slot of the call. The macro stores in this slot the address at
 * which the program continues. \beyond: the label of FAST_LEAVE_BEYOND.
 */
	.macro FAST_LEAVE slot, unguarded, beyond, written, other
	FAST_GUARD \unguarded
	leaq	\slot, %rsi
	cmpq	%rsi, FRAME_SLOT(%rdi)
	jne	\other
	cmpq	THREAD_FAST_BASE(%rcx), %rdi
	jbe	\beyond
\written:
	FAST_EXIT \slot, \other
	.endm

	.macro FAST_EXIT slot, other
	cmpb	$0, probe + PROBE_IS_ON(%rip)
	je	\other
	FAST_ROOM \other
	FAST_CLOCK \other
	movq	%rax, -16(%rsi)
	movq	FRAME_RET(%rdi), %rdx
	movq	FRAME_DATA(%rdi), %rax
	movq	%rdx, \slot
	orq	$RECORD_EXIT_BIT, %rax
	movq	%rax, -8(%rsi)
	subq	$FRAME_BYTES, %rdi
	FAST_COMMIT
	.endm

/*
 * Ends a call for which FAST_LEAVE has gone to \beyond. If the call's ENTRY is already written,
 * goes to \written. If the ENTRY is still held back, and the call was not longer than the time of
 * -t, the macro drops the call.
 */
	.macro FAST_LEAVE_BEYOND slot, written, maybe_admitted, other
	cmpq	THREAD_HELD_LIMIT(%rcx), %rdi
	ja	\maybe_admitted
	cmpq	THREAD_WRITTEN(%rcx), %rdi
	jbe	\written
	FAST_CLOCK \other
	subq	FRAME_TIME(%rdi), %rax
	cmpq	THREAD_THRESHOLD(%rcx), %rax
	ja	\other
	movq	FRAME_RET(%rdi), %rdx
	movq	%rdx, \slot
	subq	$FRAME_BYTES, %rdi
	movq	%rdi, THREAD_TOP(%rcx)
	.endm

/*
 * Ends the call that has changed the thread's state to THREAD_OPEN. First changes the state back to
 * THREAD_READY, as planned_admit_over() does. Then ends the call by FAST_EXIT, which may go to
 * \other. For the return of any other call, goes to \other at once.
 */
	.macro FAST_LEAVE_ADMITTED slot, other
	cmpq	THREAD_ADMITTED(%rcx), %rdi
	jne	\other
	movq	THREAD_PLANNED(%rcx), %rdx
	movw	$0, PLANNED_IN(%rdx)
	addq	$PLANNED_SKIP_OUTSIDE, %rdx
	movq	%rdx, THREAD_CALLS(%rcx)
	FAST_EXIT \slot, \other
	.endm

#endif
