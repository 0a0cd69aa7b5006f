/*
 * Copies of libutrail-trace in a process that the recorder has attached to. Some copies were loaded
 * before the probe. dlopen(3) may load more copies later. The probe finds each copy by an ELF note
 * (trace/seam/recorder.h).
 */
#ifndef UTRAIL_LIBMCOUNT_TRACE_COPIES_H
#define UTRAIL_LIBMCOUNT_TRACE_COPIES_H

#include <stdint.h>

/*
 * Makes each loaded copy of libutrail-trace record the program's events, including events that the
 * program declared before this call. May wait for the recorder. Returns the number of copies. If a
 * thread holds a lock of a copy, the result is -EAGAIN. The caller must then call the function
 * again.
 */
int64_t trace_copies_open(void);

/*
 * Makes all copies forget the probe, and returns the number of copies. If a thread holds a lock of
 * a copy, the events of that copy stay switched on, and the result is -EAGAIN. The caller must then
 * call the function again.
 */
int64_t trace_copies_close(void);

/*
 * Called after this thread has loaded modules. If the recorder has attached to the process, copies
 * in the new modules begin to record events, as after trace_copies_open().
 */
void trace_copies_after_dlopen(void);

#endif
