/* The process' side of the recording. */
#ifndef UTRAIL_LIBMCOUNT_SESSION_H
#define UTRAIL_LIBMCOUNT_SESSION_H

#include <stdint.h>

/* COLD. Be recorded from now on, by the recorder at @address. enum attach_result */
int64_t session_attach(const char *address);

/* COLD. All that it needs is there: calls are recorded. */
void session_go(void);

#endif
