/*
 * Copies of libutrail-trace in a process that the recorder has attached to: they were loaded before
 * the probe (trace/seam/recorder.h).
 */
#ifndef UTRAIL_LIBMCOUNT_TRACE_COPIES_H
#define UTRAIL_LIBMCOUNT_TRACE_COPIES_H

#include <stdint.h>

/*
 * Make each loaded copy record the program's declared events, earlier ones, too. May wait for the
 * recorder. Returns the number of copies; -EAGAIN: a lock is held, call again.
 */
int64_t trace_copies_open(void);

/* Make all copies forget the probe. Returns their number; -EAGAIN: events are still on. */
int64_t trace_copies_close(void);

/* Open the copies in modules that this thread has just loaded. */
void trace_copies_after_dlopen(void);

#endif
