/*
 * Copies of libutrail-trace in a process that runs already: they did not see the probe come
 * (trace/seam/recorder.h).
 */
#ifndef UTRAIL_LIBMCOUNT_TRACE_COPIES_H
#define UTRAIL_LIBMCOUNT_TRACE_COPIES_H

#include <stdint.h>

/*
 * Each copy that is loaded records from now on what the program declares, and what it has declared.
 * May wait for the recorder. Returns their number; -EAGAIN: a lock is held, come again.
 */
int64_t trace_copies_open(void);

/*
 * None of them comes to the probe any more. Returns their number; -EAGAIN: events are still
 * switched on in one, for nobody.
 */
int64_t trace_copies_close(void);

/* A thread has loaded modules. */
void trace_copies_after_dlopen(void);

#endif
