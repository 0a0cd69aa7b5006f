/*
 * Reads memory that may be unmapped. A read of unmapped memory does not end the program. Most reads
 * need no system call.
 */
#ifndef UTRAIL_LIBMCOUNT_FAULT_H
#define UTRAIL_LIBMCOUNT_FAULT_H

#include "libmcount/hot/probe.h"

/*
 * arch_copy_guarded() and arch_copy_string() read memory. When such a read faults, the probe's
 * handler of SIGSEGV and SIGBUS ends the read. Other faults go to the program's handler (fault.c).
 *
 * If the thread blocks the signal of a fault, the fault ends the program. So a thread looks at its
 * signal mask before its first read, and stores in fault_state whether a fault would call the
 * probe's handler. If a fault would not call the probe's handler, the thread reads with
 * fault_copy_careful() or fault_copy_string_careful(). These events may change the mask:
 *
 * - a call of a function that fault.c interposes, such as sigprocmask(2)
 * - a call of the program's handler by the probe's handler, and the return from this call
 * - longjmp(3) and its relatives, setcontext(3), swapcontext(3)
 *
 * After each of these events, the thread looks at its mask again before its next read.
 */
enum fault_state {
	FAULT_UNKNOWN = 0, /* the thread must read its signal mask first */
	FAULT_GUARDED = 1, /* a fault would call the probe's handler */
	FAULT_CAREFUL = 2, /* a fault would not call the probe's handler */
};

extern __thread uint8_t fault_state __attribute__((tls_model("initial-exec")));

/* The bit of a signal in a 64-bit signal mask, as in the kernel. */
#define MASK_BIT(sig) (1ULL << ((sig)-1))

/*
 * FAULT_GUARDED while the probe's handlers are reliable. fault_withdraw() stores UINT8_MAX, which
 * no thread has in fault_state.
 */
extern uint8_t fault_guarded __attribute__((visibility("hidden")));

/*
 * COLD. Called when a filter is about to forbid system calls that the probe's handlers need
 * (seal.h). Installs the program's handlers again, for good.
 */
void fault_withdraw(void);
/*
 * COLD. Called while the probe starts, because a later dlsym(3) could wait for a lock. Finds the
 * definition of sigaction(2) that follows the probe's own definition. Does not call the found
 * function. If the program defines the found function, the function may need the program's
 * constructors. While the probe starts, these constructors may not have run.
 */
void fault_find_functions(void);

/*
 * COLD. Lets a fault in a read of the program's memory come to the probe's handler. This function
 * and the two below do nothing when the probe must not replace the program's handlers: when the
 * probe is attached, or after fault_withdraw(). Without the probe's handler, reads are slower.
 */
void fault_guard_begin(void);

/* COLD. From now on the probe calls crash_note() before a crash ends the program. */
void fault_watch_crashes(void);

/* COLD. From now on signal @sig comes to the probe's handler first (signal_switches.h). */
void fault_watch_signal(int sig);

/*
 * COLD. From now on @fn is called after each of the program's signal handlers, in the handler's
 * thread. Returns false and changes nothing when the probe must not replace the program's handlers.
 */
bool fault_call_after_handlers(void (*fn)(void));

/*
 * COLD, in a forked child. Unlocks the lock that protects the actions of signals. Another thread of
 * the parent may have held the lock, and the child does not have that thread.
 */
void fault_after_fork(void);

/*
 * Any context. Called before this thread's signal mask changes in longjmp(3) or its relatives, in
 * setcontext(3), or in swapcontext(3).
 */
void fault_forget_mask(void);

/* WARM. Finds out what a fault in this thread would do, and sets fault_state. */
void fault_look(void);

/* The work of fault_copy() and fault_copy_string() in a thread that is not FAULT_GUARDED. */
uint64_t fault_copy_careful(void *to, const void *from, uint64_t len);
int64_t fault_copy_string_careful(void *to, const void *from, uint64_t max);

/* True for an address that counts as unreadable: in the first page, or >= ARCH_ADDRESS_END. */
static inline bool fault_is_hopeless(const void *from)
{
	return (uint64_t)from - 4096 >= ARCH_ADDRESS_END - 4096;
}

/* HOT. Copies @len bytes. Returns the number of bytes before the first unreadable one, or @len. */
static inline uint64_t fault_copy(void *to, const void *from, uint64_t len)
{
	if (unlikely(fault_is_hopeless(from)))
		return 0;
	if (likely(fault_state == fault_guarded))
		return arch_copy_guarded(to, from, len);
	return fault_copy_careful(to, from, len);
}

/*
 * HOT. Copies the string at @from without its NUL, at most @max bytes. The function may overwrite
 * the 7 bytes of @to that follow the copy. Returns the number of copied bytes, or -1 - n when
 * memory is unreadable after n bytes.
 */
static inline int64_t fault_copy_string(void *to, const void *from, uint64_t max)
{
	if (unlikely(fault_is_hopeless(from)))
		return -1;
	if (likely(fault_state == fault_guarded))
		return arch_copy_string(to, from, max);
	return fault_copy_string_careful(to, from, max);
}

/*
 * COLD, defined in libmcount/python. Called when the program sets or reads a signal handler. A
 * Python interpreter sets signal handlers at its start, before the first import. If the calling
 * thread has the interpreter's GIL, and the probe does not listen to the interpreter yet,
 * fault_before_handler() adds an audit hook, by which the probe begins to listen.
 */
void fault_before_handler(void);

#endif
