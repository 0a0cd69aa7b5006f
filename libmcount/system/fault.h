/*
 * Reading memory of the program that may be unmapped, without harm and, as a rule, without a system
 * call.
 */
#ifndef UTRAIL_LIBMCOUNT_FAULT_H
#define UTRAIL_LIBMCOUNT_FAULT_H

#include "libmcount/hot/probe.h"

/*
 * Memory is read by arch_copy_guarded() and arch_copy_string(). When a read faults, our handler of
 * SIGSEGV and SIGBUS ends it. All other faults are passed on to the program's handler, which ours
 * replaces: see fault.c.
 *
 * A fault in a thread that blocks the signal would end the program. So a thread looks at its mask.
 * Functions that may change the mask are interposed, and make the next read look again.
 */
enum fault_state {
	FAULT_UNKNOWN = 0, /* a thread must look first */
	FAULT_GUARDED = 1, /* our handler would be called */
	FAULT_CAREFUL = 2, /* our handler would not be called */
};

extern __thread uint8_t fault_state __attribute__((tls_model("initial-exec")));

/* FAULT_GUARDED as long as our handlers are reliable; afterwards a value that no state has. */
extern uint8_t fault_guarded __attribute__((visibility("hidden")));

/*
 * COLD. System calls that our handlers need are about to be forbidden (seal.h): the program's
 * handlers are installed again, for good.
 */
void fault_withdraw(void);

/* COLD. From now on memory of the program may be read. */
void fault_guard_begin(void);

/* COLD. From now on crashes of the program come to crash_note() before they end it. */
void fault_watch_crashes(void);

/* COLD. Signal @sig comes to our handler first: see signal_switches.h. */
void fault_watch_signal(int sig);

/*
 * COLD. From now on @fn is called after each of the program's signal handlers, in the handler's
 * thread. Signals without a handler keep their actions. False, with nothing changed, if handlers
 * cannot be replaced by ours.
 */
bool fault_call_after_handlers(void (*fn)(void));

/* HOT, rarely: find out what a fault in this thread would do, and note that in fault_state. */
void fault_look(void);

/* Do the work of fault_copy() and fault_copy_string() when the state is not FAULT_GUARDED. */
uint64_t fault_copy_careful(void *to, const void *from, uint64_t len);
int64_t fault_copy_string_careful(void *to, const void *from, uint64_t max);

/*
 * Memory that no program can have mapped: the first page, and values that are no addresses at all.
 */
static inline bool fault_is_hopeless(const void *from)
{
	return (uint64_t)from - 4096 >= ARCH_ADDRESS_END - 4096;
}

/* HOT: copy @len bytes. Returns the number of bytes before the first one that could not be read. */
static inline uint64_t fault_copy(void *to, const void *from, uint64_t len)
{
	if (unlikely(fault_is_hopeless(from)))
		return 0;
	if (likely(fault_state == fault_guarded))
		return arch_copy_guarded(to, from, len);
	return fault_copy_careful(to, from, len);
}

/*
 * HOT: copy the string at @from without its NUL, at most @max bytes; up to 7 bytes after the copy
 * are overwritten, too. Returns the number of copied bytes; -1 - n when n bytes were read and the
 * next one could not be.
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
 * COLD, for libmcount/python: the program sets or reads a signal handler. Interpreters do so when
 * they begin.
 */
void fault_before_handler(void);

#endif
