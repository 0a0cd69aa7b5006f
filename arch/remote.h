/*
 * The recorder makes a stopped thread of another process run code (ptrace(2)). These functions do
 * all steps that depend on the instruction set.
 */
#ifndef UTRAIL_ARCH_REMOTE_H
#define UTRAIL_ARCH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A stopped thread's registers, in the kernel's format (PTRACE_GETREGSET).
 *
 * @words, @bytes: the general registers (NT_PRSTATUS), and the number of valid bytes
 * @vectors, @vector_bytes: floating point and vector state (arch_remote_vector_note)
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
 * True when the recorder can make threads of other processes run code on this instruction set. If
 * arch_has_remote is false, the functions below do nothing, and return fixed values.
 */
extern const bool arch_has_remote;

/* The note type (NT_...) that PTRACE_GETREGSET takes to read vector registers. */
extern const int arch_remote_vector_note;

/*
 * Stores the registers that have numbers in call frame information, in the order of these numbers.
 * Returns the number of stored registers.
 */
#define ARCH_REMOTE_DWARF_REGS 32
unsigned arch_remote_dwarf_regs(const struct arch_remote *r, uint64_t regs[ARCH_REMOTE_DWARF_REGS]);
extern const unsigned arch_remote_dwarf_sp; /* DWARF's number of the stack pointer */

uint64_t arch_remote_pc(const struct arch_remote *r);
uint64_t arch_remote_sp(const struct arch_remote *r);
void arch_remote_set_pc(struct arch_remote *r, uint64_t pc);

/*
 * Sets the first argument of the system call that thread @tid is about to make. @audit_arch is the
 * ABI of the call. Returns false when ptrace(2) fails.
 */
bool arch_remote_set_argument(int tid, uint32_t audit_arch, uint64_t value);

/*
 * Returns the number of the system call that the thread was in when it was stopped, even if the
 * call has its result already. Returns -1 when the thread was stopped between two instructions.
 */
long arch_remote_entered_call(const struct arch_remote *r);

/*
 * If the thread was stopped in a system call that has no result yet, returns the number of this
 * system call. Stores the first four arguments of the system call. Returns -1 when there is no such
 * system call.
 */
long arch_remote_system_call(const struct arch_remote *r, uint64_t args[4]);

/*
 * Some system calls, such as epoll_wait(2), fail with EINTR when the thread is stopped (see
 * signal(7)). If such a call has failed with EINTR, changes @r to restart the call, and returns
 * true. The kernel restarts all other interrupted calls.
 */
bool arch_remote_restart(struct arch_remote *r);

/*
 * Finds two pieces of code in @code[@len], a copy of executable memory of a process. Stores the
 * offsets of the two pieces. A thread of that process can execute the pieces to make system calls.
 * The recorder needs these system calls only until the recorder's own code is in the process.
 * Returns false when one of the pieces is missing.
 *
 * @call: instructions that first make a system call, and then return
 * @handler_return: the instructions to which signal handlers return
 */
bool arch_remote_find_gadgets(const uint8_t *code, size_t len, size_t *call,
			      size_t *handler_return);

/* The size of a context for rt_sigreturn(2) that holds @r and a signal mask. */
size_t arch_remote_context_bytes(const struct arch_remote *r);

/*
 * Writes a context for rt_sigreturn(2) to @memory.
 *
 * @at: the context's address in the process, a multiple of 64
 * @r, @mask: the registers and the signal mask of the context
 * @nr: the interrupted system call that restarts when the context is restored; negative: none
 */
void arch_remote_put_context(void *memory, uint64_t at, const struct arch_remote *r, uint64_t mask,
			     long nr);

/*
 * Returns the number of the system call that @code makes. @code has the last bytes before the
 * program counter. The number is known only if @code loads the number as a constant, as code of C
 * libraries does. Otherwise, returns -1.
 */
#define ARCH_REMOTE_NUMBER_BYTES 7
long arch_remote_number_in_code(const uint8_t code[ARCH_REMOTE_NUMBER_BYTES]);

/*
 * Makes @r begin a system call by the instructions at @call. After the call, the thread continues
 * in the context at @context, even if the recorder has died. The word below @context must contain
 * the return address of signal handlers.
 */
void arch_remote_begin_syscall(struct arch_remote *r, uint64_t call, uint64_t context, long nr,
			       const uint64_t args[6]);

/*
 * Writes position-independent code to @code. The code calls a function, sends a signal to the
 * thread that runs the code, and then restores a context. The program ignores the signal, but a
 * tracer sees the signal.
 */
#define ARCH_REMOTE_CODE_BYTES 64
#define ARCH_REMOTE_CODE_END   33 /* the code at this offset restores the context */
void arch_remote_put_code(uint8_t code[ARCH_REMOTE_CODE_BYTES]);

/*
 * Makes @r run the code that arch_remote_put_code() has written. The code is at the address @code.
 * First, the code calls @fn with @args. The stack of this call is the memory below the address
 * @context. Then the code sends @signal to the thread, and restores the context at @context.
 */
void arch_remote_begin_call(struct arch_remote *r, uint64_t code, uint64_t context, uint64_t fn,
			    const uint64_t args[6], int signal);

/*
 * Returns the result of the function @fn of arch_remote_begin_call(). The result is valid after the
 * @signal of arch_remote_begin_call() has come.
 */
uint64_t arch_remote_call_result(const struct arch_remote *r);

/* Returns the result of a system call that has returned. */
uint64_t arch_remote_result(const struct arch_remote *r);

/*
 * @words has @nr words of a stack. If these words are a context to which a signal handler will
 * return, returns the program counter in this context. Otherwise, returns 0.
 */
uint64_t arch_remote_sigframe_pc(const uint64_t *words, size_t nr);

/* Returns the stack pointer in a context for which arch_remote_sigframe_pc() is not 0. */
uint64_t arch_remote_sigframe_sp(const uint64_t *words, size_t nr);

/*
 * True when @words[0], on a stack, may be the program counter of a signal handler's context. This
 * function checks whether the words after @words[0] look like the registers that the kernel saves
 * next to a program counter.
 */
bool arch_remote_may_be_interrupted(const uint64_t *words, size_t nr);

/*
 * True when the last bytes of @code may be a call instruction. Only in this case can the address
 * after @code be a return address.
 */
#define ARCH_REMOTE_CALL_BYTES 7
bool arch_remote_may_end_call(const uint8_t code[ARCH_REMOTE_CALL_BYTES]);

#endif
