/*
 * The flag by which CPython 3.11 makes its threads look at signals ("eval breaker", ceval.c).
 *
 * Only the main thread handles signals. So the handler of a signal raises the flag when it runs in
 * the main thread. If another thread runs Python code at that moment, it sees the flag, but can do
 * nothing about it, and looks again before its next function. If there is a profile function, that
 * thread then repeats the first instruction of its next function until the main thread runs. If the
 * main thread waits for the other thread, both wait for ever. Earlier and later versions go on to
 * the next instruction.
 */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_BREAKER_H
#define UTRAIL_LIBMCOUNT_PYTHON_BREAKER_H

#include <stdbool.h>

/*
 * COLD, with the GIL, once: from now on the flag is lowered again when a handler has raised it
 * while the main thread cannot handle signals. As soon as the main thread has the GIL, the
 * interpreter itself raises the flag again. False in a 3.11 whose flag is not found: then no
 * profile function may be set.
 */
bool breaker_begin(void);

#endif
