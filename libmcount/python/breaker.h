/*
 * The flag by which CPython 3.11 makes its threads look at signals ("eval breaker", ceval.c).
 *
 * The handler of a signal raises the flag when it runs in the main thread, since only that thread
 * handles signals. If another thread runs Python code at that moment, it sees the flag, cannot do
 * anything about it, and looks again before its next function. With a profile function it then
 * repeats the first instruction of that function until the main thread comes. If the main thread
 * waits for the other one, both wait for ever. Earlier and later versions go on to the next
 * instruction.
 */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_BREAKER_H
#define UTRAIL_LIBMCOUNT_PYTHON_BREAKER_H

#include <stdbool.h>

/*
 * COLD, with the GIL, once: from now on the flag is lowered again when a handler has raised it for
 * a thread that cannot handle signals. The interpreter itself raises it for the main thread as soon
 * as that has the GIL. False in a 3.11 in which we do not find the flag: then no profile function
 * may be set.
 */
bool breaker_begin(void);

#endif
