/* Macros of all sample programs, for functions that remain functions with any optimization. */
#ifndef SAMPLE_PROGRAM_H
#define SAMPLE_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

/*
 * Stands last in a function. It prevents tail calls, and merging with a function of the same body.
 */
#define KEEP() __asm__ volatile("" ::: "memory")

/* A function that no method traces: it has neither a hook nor room for one. */
#ifdef __clang__
#define QUIET                                                                            \
	__attribute__((noinline, no_instrument_function, patchable_function_entry(0, 0), \
		       xray_never_instrument))
#else
#define QUIET __attribute__((noinline, no_instrument_function, patchable_function_entry(0)))
#endif

/*
 * For a program that executes itself. The timer of gprof, which -pg starts, survives execve(). A
 * SIGPROF kills the new image if it comes before its handler is set.
 */
QUIET __attribute__((unused)) static void end_profiling(void)
{
	struct itimerval none = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_PROF, &none, NULL);
}

#define LEAF(name)         \
	FN void name(void) \
	{                  \
		KEEP();    \
	}

#endif
