/*
 * The flag by which CPython 3.11 makes its threads look at signals ("eval breaker", ceval.c).
 *
 * A signal handler in the main thread raises the flag; only the main thread can handle the signal.
 * Until the main thread runs, any other thread with a profile function repeats the first
 * instruction of its next function. If the main thread waits for such a thread, both threads wait
 * for ever.
 */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_BREAKER_H
#define UTRAIL_LIBMCOUNT_PYTHON_BREAKER_H

#include <stdbool.h>

/*
 * COLD, with the GIL, once. In Python 3.11, from now on the probe lowers the "eval breaker" flag
 * while the main thread cannot handle signals. When the main thread gets the GIL, the interpreter
 * raises the flag again. Returns false when the flag is not found, or when the probe must not
 * replace signal handlers. In these cases the caller must not set a profile function. In other
 * versions of Python, does nothing and returns true.
 */
bool breaker_begin(void);

#endif
