/* Asking the recorder that works on a data directory (utils/format/request.h). */
#ifndef UTRAIL_CMDS_ASK_H
#define UTRAIL_CMDS_ASK_H

#include "utils/format/request.h"

/*
 * Send a request to the recorder of @dir and wait for the answer, @timeout_ms at most (-1: as long as it takes). 0; -ENOTCONN
 * when nobody records into it, -EPIPE when the recorder ended without an answer, -ETIMEDOUT, or another negative errno.
 */
int ask_recorder(const char *dir, enum request_type type, int timeout_ms,
		 struct request_answer *answer);

/*
 * A recording whose program has ended may still be on its way to the disk (--keep-pid: the shell goes on at once): wait
 * until its recorder is done. Returns at once when the program still runs, or when there is no recorder.
 */
void ask_wait_for_end(const char *dir);

#endif
