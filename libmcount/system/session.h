/* The traced process' side of a recording. */
#ifndef UTRAIL_LIBMCOUNT_SESSION_H
#define UTRAIL_LIBMCOUNT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

/* COLD. Prepare to be recorded from session_go() on. Returns enum attach_result. */
int64_t session_attach(const char *address);

/* COLD. True from session_attach() until session_go() or session_end_wait(). */
bool session_is_waiting(void);
void session_end_wait(void);

/* COLD. Begins the recording of calls. */
void session_go(void);

/* COLD. Ends the tracing of this process, a forked child that cannot reach the recorder. */
void session_cut_off(void);

#endif
