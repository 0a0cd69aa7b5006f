/* The process' side of the recording. */
#ifndef UTRAIL_LIBMCOUNT_SESSION_H
#define UTRAIL_LIBMCOUNT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * COLD. Prepare everything for the recorder at @address: session_go() then begins the recording.
 * Returns enum attach_result.
 */
int64_t session_attach(const char *address);

/*
 * COLD. True between session_attach() and session_go(). session_end_wait() ends this state without
 * a recording.
 */
bool session_is_waiting(void);
void session_end_wait(void);

/* COLD. Calls are recorded from now on. */
void session_go(void);

/* COLD, in a forked child that cannot reach the recorder: end its tracing. */
void session_cut_off(void);

#endif
