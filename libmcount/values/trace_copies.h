/*
 * Copies of libutrail-trace in a process that runs already: they were loaded before the probe
 * (trace/seam/recorder.h).
 */
#ifndef UTRAIL_LIBMCOUNT_TRACE_COPIES_H
#define UTRAIL_LIBMCOUNT_TRACE_COPIES_H

#include <stdint.h>

/*
 * From now on each loaded copy records the program's declared events, also those declared before.
 * May wait for the recorder. Returns the number of copies; -EAGAIN: a lock is held, so call again.
 */
int64_t trace_copies_open(void);

/*
 * From now on no copy leads to the probe. Returns the number of copies; -EAGAIN: in one of them
 * events are still switched on.
 */
int64_t trace_copies_close(void);

/* Called after a thread has loaded modules. */
void trace_copies_after_dlopen(void);

#endif
