/*
 * System calls that the program has forbidden itself (seccomp(2)): which of them the probe may
 * still make.
 */
#ifndef UTRAIL_LIBMCOUNT_SEAL_H
#define UTRAIL_LIBMCOUNT_SEAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A filter may end the program for a call that is ours. So each filter is read before it counts
 * (seal_before_filter()), and what it does not allow whatever the arguments are is not done any
 * more, by any thread. All system calls of the probe go through own_syscall(), or are made only
 * where seal_allows() has said yes. doc/internals/hot-path.md, "Sealed programs".
 */
#define SEAL_NUMBERS 512

extern struct seal {
	_Atomic bool is_on;
	_Atomic bool may_begin; /* a thread's state and its ring can be made */
	_Atomic bool may_talk;	/* to the recorder, and what comes of that */
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

/* Return this, with errno, for a call that was not made. */
long seal_refuse(void);

/* Like syscall(3); -1 with EPERM, and nothing done, where that is forbidden. */
#define own_syscall(number, ...) \
	(seal_allows(number) ? syscall(number, ##__VA_ARGS__) : seal_refuse())

/*
 * COLD. The filter at @program (struct sock_fprog) is about to be put on this thread, and maybe on
 * others.
 */
void seal_before_filter(uint64_t program);

/* COLD. This thread is about to get a filter that nobody has read: nothing is allowed any more. */
void seal_all(void);

/*
 * COLD, before anything else is done. True when this process has more filters than its recorder's
 * programs begin with; known by the only calls that the dynamic linker has just made. @expected: as
 * the recorder has said.
 */
bool seal_was_before(unsigned expected);

/*
 * The number of filters in @status, the text of proc_pid_status(5). If the kernel does not say
 * that: whether there are any.
 */
unsigned seal_count_filters(const char *status);

#endif
