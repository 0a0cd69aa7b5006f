/* The probe's own system calls. The program may have forbidden some of them (seal.h). */
#ifndef UTRAIL_LIBMCOUNT_OWN_SYSCALL_H
#define UTRAIL_LIBMCOUNT_OWN_SYSCALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * If the probe makes a system call that a seccomp filter forbids, the kernel may kill the program.
 * So the probe reads each filter before the program installs the filter (seal_before_filter()). The
 * probe makes a system call only if all filters allow the call, whatever its arguments are. The
 * probe uses own_syscall(), or asks seal_allows() before a system call. In a conversation with the
 * recorder, libc makes some system calls for the probe. The probe cannot check each of these calls.
 * So the probe asks seal_may_talk() once before the conversation (doc/internals/hot-path.md,
 * "Sealed programs").
 */
#define SEAL_NUMBERS 512

extern struct seal {
	_Atomic bool is_on;
	_Atomic bool may_begin; /* a thread can get a state, and a ring for its records */
	_Atomic bool may_talk;	/* a conversation with the recorder is possible */
	_Atomic uint8_t forbidden[SEAL_NUMBERS / 8];
} seal;

/* Any context. True when system call @number may be made. */
static inline bool seal_allows(long number)
{
	if (__builtin_expect(!atomic_load_explicit(&seal.is_on, memory_order_relaxed), 1))
		return true;
	return number >= 0 && number < SEAL_NUMBERS &&
	       !(atomic_load_explicit(&seal.forbidden[number / 8], memory_order_relaxed) &
		 1U << number % 8);
}

/* Any context. True when the seccomp filters allow opening, reading and closing a file. */
static inline bool seal_allows_file(void)
{
	return seal_allows(SYS_openat) && seal_allows(SYS_read) && seal_allows(SYS_close);
}

static inline bool seal_may_begin(void)
{
	return !atomic_load(&seal.is_on) || atomic_load(&seal.may_begin);
}

static inline bool seal_may_talk(void)
{
	return !atomic_load(&seal.is_on) || atomic_load(&seal.may_talk);
}

/* The result of a forbidden system call: -1, with errno EPERM. */
long seal_refuse(void);

/*
 * Makes a system call, like syscall(3). A forbidden call is not made. In this case the result is
 * -1, with errno EPERM.
 */
#define own_syscall(number, ...) \
	(seal_allows(number) ? syscall(number, ##__VA_ARGS__) : seal_refuse())

/* SLOW. True when the 8 bytes at @address can be read. */
bool own_is_readable(uint64_t address);

/* SLOW. Read the beginning of a file. Returns the number of bytes, or -1. */
long own_read_file(const char *path, char *to, size_t size);

/*
 * Blocks the signals of this thread until own_quiet_end(@mask). Returns false when a seccomp filter
 * forbids rt_sigprocmask(2). own_quiet_begin() and own_quiet_end() may change errno.
 */
bool own_quiet_begin(uint64_t *mask);
void own_quiet_end(uint64_t mask);

#endif
