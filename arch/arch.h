/*
 * The probe's interface to the CPU. Each folder in arch/ implements this interface. The words HOT
 * and COLD begin the comments of functions (libmcount/hot/probe.h explains them).
 */
#ifndef UTRAIL_ARCH_H
#define UTRAIL_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The files of an architecture <isa>; doc/internals/add-an-arch.md has the whole recipe:
 *
 * - arch/<isa>/arch_isa.h: the inline functions below (arch_counter_read ...)
 * - arch/<isa>/guarded.S, fault.c: reading memory and registers of the program (arch_copy_guarded
 *   ...)
 * - arch/<isa>/stubs.S: entry stubs under the names that compilers call (mcount, __fentry__ ...),
 *   arch_return_trampoline, and arch_call_preserving_vectors. A stub saves all registers that a
 *   call may change, except vector registers, and calls probe_entry() or probe_exit()
 *   (libmcount/hot/probe.h)
 * - arch/<isa>/host.c: arch_init(), arch_has_invariant_counter(), arch_has_shadow_stack()
 *
 * Functions that only decode or write machine code can run on any host. They do not belong in these
 * files.
 */

#if defined(__x86_64__)
#include "arch/x86_64/arch_isa.h"
#else
#include "arch/none/arch_isa.h"
#endif

/*
 * Returns the value of the CPU's time counter (x86_64: rdtsc, about 7 ns). The CPU may reorder this
 * read with other instructions.
 */
static inline uint64_t arch_counter_read(void);

/*
 * Returns the stack pointer with which the program continues after longjmp(3). With an unknown C
 * library the result is arbitrary.
 */
struct __jmp_buf_tag;
static inline uint64_t arch_jmp_buf_sp(const struct __jmp_buf_tag *env);

/* Returns the stack pointer with which the program continues after setcontext(3). */
static inline uint64_t arch_context_sp(const ucontext_t *context);

/*
 * True when the counter has a constant rate in all power states, and is synchronous on all CPUs.
 * Such a counter can replace a kernel clock after calibration.
 */
bool arch_has_invariant_counter(void);

/*
 * COLD. True when the CPU compares return addresses with a shadow stack. In this case no
 * return address may be replaced.
 */
bool arch_has_shadow_stack(void);

/*
 * The kernel's name of the clock source that is the CPU's counter, for example "tsc". The name of
 * the current clock source is in /sys/devices/system/clocksource/clocksource0/current_clocksource.
 */
extern const char arch_counter_clocksource[];

/* e_machine and EI_CLASS of the programs that the probe supports. */
extern const unsigned arch_elf_machine;
extern const unsigned arch_elf_class;

/*
 * COLD. Detects the CPU's features. It is called once, before any stub can call the
 * probe.
 */
void arch_init(void);

/*
 * Calls @fn(@arg) on the current stack, and saves all vector, FP and mask registers around the
 * call, so that @fn may use libc. @fn must preserve errno.
 */
void arch_call_preserving_vectors(void (*fn)(void *arg), void *arg);

/*
 * True when a call of @fn(@arg) is known to leave all vector, FP and mask registers unchanged.
 * Calls @fn once, or not at all if these registers cannot be compared. arch_leaves_vectors() itself
 * overwrites vector registers, so it must run inside of arch_call_preserving_vectors(). Only one
 * thread at a time may run arch_leaves_vectors().
 */
bool arch_leaves_vectors(void (*fn)(void *arg), void *arg);

/* The stubs of library calls (arch_write_call_stub()) jump to this code of the probe. */
extern const char arch_libcall[];

#define ARCH_CALL_STUB_BYTES 16

/*
 * Writes the stub of call site @index (below 2^31). The stub jumps to the address in *@cell.
 *
 * @code: ARCH_CALL_STUB_BYTES bytes for the stub. The stub is executed at @code. A copy at another
 *        address would not find @cell
 * @cell: points to a word within 2 GiB of @code
 */
void arch_write_call_stub(uint8_t *code, uint32_t index, const uint64_t *cell);

/* The hooks are the places where patched code enters the probe. */
enum arch_hook {
	ARCH_HOOK_POINT,      /* an event happens: called by the event's stub */
	ARCH_HOOK_POINT_ARGS, /* an event with arguments happens: called by the event's stub */
	ARCH_HOOK_ENTRY,      /* a function begins: called by the function's stub */
	ARCH_HOOK_CALL,	      /* a function begins: called as __fentry__ */
	ARCH_HOOK_XRAY_ENTRY, /* called from the sleds of clang's XRay */
	ARCH_HOOK_XRAY_EXIT,  /* reached by a jump that stands in place of a return instruction */
	ARCH_HOOK_XRAY_TAIL,
	ARCH_HOOKS
};

extern const char *const arch_hooks[ARCH_HOOKS];

/*
 * arch_write_gate() writes a gate: code that jumps to the address in *@cell. @cell points to a word
 * within 2 GiB of the gate. The gate is executed at the address @gate. A copy at another address
 * would not find @cell.
 */
#define ARCH_GATE_BYTES 8

void arch_write_gate(uint8_t gate[ARCH_GATE_BYTES], const uint64_t *cell);

/*
 * Writes code that can take the place of any hook. The code does nothing, and returns to the
 * address to which the hook would return.
 */
#define ARCH_PASS_BYTES 8

void arch_write_pass(uint8_t pass[ARCH_PASS_BYTES]);

/*
 * Each function writes instructions: a jump from @from to @to, a call from @from to @to, or @bytes
 * bytes that do nothing. @from and @to are at most 2 GiB apart.
 */
#define ARCH_JUMP_BYTES 5

void arch_write_jump(uint8_t jump[ARCH_JUMP_BYTES], uint64_t from, uint64_t to);
void arch_write_call(uint8_t call[ARCH_JUMP_BYTES], uint64_t from, uint64_t to);
void arch_write_nops(uint8_t *nops, uint32_t bytes);

/* Writes a jump to nearby code. Returns false when the code is too far away. */
#define ARCH_SHORT_JUMP_BYTES 2

bool arch_write_short_jump(uint8_t jump[ARCH_SHORT_JUMP_BYTES], uint64_t from, uint64_t to);

/*
 * Writes the beginning of a stub for event @event (below 2^31). A jump at @site leads to the stub.
 * The stub calls the address in *@cell, and changes no register, no flag and nothing on the stack.
 * The jump replaces instructions at @site. The caller appends these instructions to the stub.
 *
 * @code: ARCH_POINT_STUB_BYTES bytes for the stub. The stub is executed at @code. A copy at another
 *        address would not find @cell
 * @cell: points to a word within 2 GiB of @code
 */
#define ARCH_POINT_STUB_BYTES 37

void arch_write_point_stub(uint8_t *code, uint32_t event, uint64_t site, const uint64_t *cell);

/*
 * Does the work of arch_write_point_stub() for an event with arguments.
 *
 * @operands: a struct point_operands within 2 GiB of @code. The struct states the places from which
 *            probe_point_args() reads the arguments
 */
#define ARCH_POINT_ARGS_STUB_BYTES 42

void arch_write_point_args_stub(uint8_t *code, uint32_t event, uint64_t site, const uint64_t *cell,
				const void *operands);

/*
 * Writes a stub for a function's entry. A jump at @site leads into the stub, to the address @code +
 * ARCH_ENTRY_STUB_START. The stub calls the address in *@cell.
 *
 * @addr: the address by which records identify the function
 * @slot: the number of bytes from the stack pointer at @site up to the function's return address
 */
#define ARCH_ENTRY_STUB_BYTES 43
#define ARCH_ENTRY_STUB_START 24

void arch_write_entry_stub(uint8_t *code, uint64_t addr, uint64_t site, uint32_t slot,
			   const uint64_t *cell);

/*
 * Adds @moved to the displacement at @at, whose instruction was moved. @moved is the old address of
 * the instruction minus its new address. Returns false when the new displacement does not fit.
 */
bool arch_move_distance(uint8_t *at, int64_t moved);

/*
 * Calls @fn(@a, @b). @fn is a libc function that finds the calling module by the return address.
 *
 * @through: the address of a return instruction in the module that @fn shall find
 *           (arch_find_return()). @fn returns to this address
 * @lazy: the value of a register (x86_64: %r11) at the start of @fn. Code that binds library calls
 *        reads this register (arch_pass_site())
 */
void *arch_call_returning_through(void *fn, const void *a, uint64_t b, const void *through,
				  uint64_t lazy);

/*
 * Returns the address of a return instruction in [@start, @end), or NULL. All bytes of the range
 * must be readable.
 */
const void *arch_find_return(const void *start, const void *end);

/*
 * The address that replaces return addresses. The code there calls probe_exit(), and continues at
 * the address that probe_exit() returns.
 */
extern const char arch_return_trampoline[];

/*
 * HOT. Copies @len bytes. Returns the number of bytes before the first unreadable one. When a read
 * faults, the signal handler must call arch_fault_resume(), so that arch_copy_guarded() returns.
 */
uint64_t arch_copy_guarded(void *to, const void *from, uint64_t len);

/*
 * HOT. Copies the string at @from without its NUL, at most @max bytes. The function may overwrite 7
 * bytes after the copy. Returns the number of copied bytes, or -1 - n when memory is unreadable
 * after n bytes. When a read faults, the signal handler must call arch_fault_resume(), so that
 * arch_copy_string() returns.
 */
int64_t arch_copy_string(void *to, const void *from, uint64_t max);

/*
 * Called in a signal handler with its @context (ucontext_t). Returns true when the fault was in
 * arch_copy_guarded() or arch_copy_string(). The thread then continues at the end of that function.
 */
bool arch_fault_resume(void *context);

/*
 * HOT. Stores the low 16 bytes of vector register @index (0 to 15) at @to. Arguments and results of
 * functions are in registers 0 to 7. Arguments of static probes may be in any register.
 */
void arch_read_vector(void *to, unsigned index);

/* HOT. Stores the ten bytes on top of the floating point stack, where long double results are. */
void arch_read_x87(void *to);

#endif
