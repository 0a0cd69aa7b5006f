/* The probe's own system calls, of which the program may have forbidden some (seal.h). */
#ifndef UTRAIL_LIBMCOUNT_OWN_SYSCALL_H
#define UTRAIL_LIBMCOUNT_OWN_SYSCALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A filter may end the program for a call that is ours. So each filter is read before it takes
 * effect (seal_before_filter()), and a call that it does not allow for all arguments is not made
 * any more, by any thread. All system calls of the probe go through own_syscall(), or are made only
 * where seal_allows() has said yes. doc/internals/hot-path.md, "Sealed programs".
 */
#define SEAL_NUMBERS 512

extern struct seal {
	_Atomic bool is_on;
	_Atomic bool may_begin; /* a thread's state and its ring can be made */
	_Atomic bool may_talk;	/* to the recorder, with all that follows */
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

/* To open a file, read it and close it again. */
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

/* Return value, with errno, for a call that was not made. */
long seal_refuse(void);

/* Like syscall(3); -1 with EPERM, and nothing done, where that is forbidden. */
#define own_syscall(number, ...) \
	(seal_allows(number) ? syscall(number, ##__VA_ARGS__) : seal_refuse())

/* SLOW. True when the word at @address can be read; the kernel says so, without a fault. */
bool own_is_readable(uint64_t address);

/*
 * Keep signal handlers from running in this thread until own_quiet_end(), which gets @mask back.
 * False when that is not possible. Both may change errno.
 */
bool own_quiet_begin(uint64_t *mask);
void own_quiet_end(uint64_t mask);

#endif
