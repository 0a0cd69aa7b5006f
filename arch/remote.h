/*
 * Running code in another process' thread that is stopped by ptrace(2): what of that depends on the
 * instruction set.
 */
#ifndef UTRAIL_ARCH_REMOTE_H
#define UTRAIL_ARCH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A stopped thread's registers, as the kernel has them (PTRACE_GETREGSET with NT_PRSTATUS; the rest
 * with arch_remote_vector_note).
 *
 * @words: of which @bytes are there
 * @vectors: floating point and vector state, @vector_bytes of it
 */
#define ARCH_REMOTE_WORDS	 32
#define ARCH_REMOTE_VECTOR_BYTES 16384

struct arch_remote {
	uint64_t words[ARCH_REMOTE_WORDS];
	size_t bytes;
	uint8_t vectors[ARCH_REMOTE_VECTOR_BYTES];
	size_t vector_bytes;
};

/*
 * True when threads of this machine can be made to run code. Otherwise the functions below do
 * nothing.
 */
extern const bool arch_has_remote;

/* The note that PTRACE_GETREGSET has vectors by. */
extern const int arch_remote_vector_note;

/*
 * The registers that call frame information has numbers for, in that order. Returns their number.
 */
#define ARCH_REMOTE_DWARF_REGS 32
unsigned arch_remote_dwarf_regs(const struct arch_remote *r, uint64_t regs[ARCH_REMOTE_DWARF_REGS]);
extern const unsigned arch_remote_dwarf_sp; /* the number of the stack pointer */

uint64_t arch_remote_pc(const struct arch_remote *r);
uint64_t arch_remote_sp(const struct arch_remote *r);
void arch_remote_set_pc(struct arch_remote *r, uint64_t pc);

/*
 * The first argument of a system call that the thread @tid stands in front of; the call is of the
 * ABI @audit_arch.
 */
bool arch_remote_set_argument(int tid, uint32_t audit_arch, uint64_t value);

/*
 * The system call that the thread was in when it was stopped, with its first four arguments; -1:
 * none.
 */
long arch_remote_system_call(const struct arch_remote *r, uint64_t args[4]);

/*
 * The kernel has ended a system call because the thread was to stop, and not because of a signal:
 * have it begun again. True when it has been changed. Most calls the kernel begins again by itself;
 * epoll_wait(2) and its like fail with EINTR (signal(7)).
 */
bool arch_remote_restart(struct arch_remote *r);

/*
 * Find the code of the process that a first system call needs: instructions that make one and
 * return, and those that signal handlers return to. Offsets in @code[@len], of code that is
 * executable; false when they are not there.
 */
bool arch_remote_find_gadgets(const uint8_t *code, size_t len, size_t *call,
			      size_t *handler_return);

/*
 * A context that rt_sigreturn(2) restores: @r, with the signal mask @mask. It takes so much memory
 * ...
 */
size_t arch_remote_context_bytes(const struct arch_remote *r);

/*
 * ... and is made at @memory, to lie at address @at, a multiple of 64. @nr: the system call that
 * was interrupted and begins again from its start when this context is restored; negative: none.
 */
void arch_remote_put_context(void *memory, uint64_t at, const struct arch_remote *r, uint64_t mask,
			     long nr);

/*
 * The number of the system call that the instructions in front of the program counter make, where
 * they put it into its register at once, as C libraries do; -1: others are there.
 */
#define ARCH_REMOTE_NUMBER_BYTES 7
long arch_remote_number_in_code(const uint8_t code[ARCH_REMOTE_NUMBER_BYTES]);

/*
 * Make @r begin a system call by the instructions at @call, and then go on in the context at
 * @context, whatever becomes of us. The word below @context is to hold the address of what signal
 * handlers return to.
 */
void arch_remote_begin_syscall(struct arch_remote *r, uint64_t call, uint64_t context, long nr,
			       const uint64_t args[6]);

/*
 * Code that calls a function, sends a signal to its own thread, and then restores a context; to be
 * put anywhere. The signal is one that the program ignores: it tells a tracer, if there is one.
 */
#define ARCH_REMOTE_CODE_BYTES 64
#define ARCH_REMOTE_CODE_END   33 /* from here on the context is restored */
void arch_remote_put_code(uint8_t code[ARCH_REMOTE_CODE_BYTES]);

/*
 * Make @r run that code, which is at @code: @fn(@args), on the stack below @context, then @signal,
 * and then that.
 */
void arch_remote_begin_call(struct arch_remote *r, uint64_t code, uint64_t context, uint64_t fn,
			    const uint64_t args[6], int signal);

/* At that signal: what the function has returned. */
uint64_t arch_remote_call_result(const struct arch_remote *r);

/* After a system call: its result. */
uint64_t arch_remote_result(const struct arch_remote *r);

/*
 * The program counter of the context that a signal handler will return to, if @words[@nr] of a
 * stack are one; else 0.
 */
uint64_t arch_remote_sigframe_pc(const uint64_t *words, size_t nr);

/* Its stack pointer. */
uint64_t arch_remote_sigframe_sp(const uint64_t *words, size_t nr);

/*
 * False when @words[0], which lies on a stack, is not the program counter in such a context: the
 * @nr words from there on would have the registers that the kernel saves next to it.
 */
bool arch_remote_may_be_interrupted(const uint64_t *words, size_t nr);

/*
 * False when no call instruction ends at the end of @code: then that is no address that a call
 * returns to.
 */
#define ARCH_REMOTE_CALL_BYTES 7
bool arch_remote_may_end_call(const uint8_t code[ARCH_REMOTE_CALL_BYTES]);

#endif
