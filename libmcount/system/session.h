/* The process' side of the recording. */
#ifndef UTRAIL_LIBMCOUNT_SESSION_H
#define UTRAIL_LIBMCOUNT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

/* COLD. Be recorded by the recorder at @address, from session_go() on. enum attach_result */
int64_t session_attach(const char *address);

/* COLD. True while session_go() is waited for; it does nothing more. */
bool session_is_waiting(void);
void session_end_wait(void);

/* COLD. All that it needs is there: calls are recorded from now on. */
void session_go(void);

/* COLD, in a forked child that cannot reach the recorder, and does not try: it is not recorded. */
void session_cut_off(void);

#endif
