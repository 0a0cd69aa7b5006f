/* Asking the recorder that works on a data directory (utils/format/probe/request.h). */
#ifndef UTRAIL_CMDS_ASK_H
#define UTRAIL_CMDS_ASK_H

#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/request.h"

/*
 * A recorder's name (see request.h), and who may have it.
 *
 * @owner: besides root and the caller: the owner of the data directory, or of the recorded process
 * @secret: that the recorder must know; "": none
 */
struct recorder_name {
	char text[REQUEST_NAME_SIZE + 17];
	uid_t owner;
	char secret[REQUEST_SECRET_CHARS + 1];
};

/*
 * Send a request to the recorder of @dir and wait for the answer, @timeout_ms at most (-1: as long
 * as it takes). A recorder that gives no sign of life for two seconds is not waited for. 0;
 * -ENOTCONN when nobody records into it, -EPIPE when the recorder ended without an answer,
 * -ETIMEDOUT, -EPERM when somebody else answers in its place, or another negative errno.
 */
int ask_recorder(const char *dir, enum request_type type, int timeout_ms,
		 struct request_answer *answer);

/* The name of the recorder of @dir, be there one or not. 0 or negative errno. */
int ask_name_of_dir(const char *dir, struct recorder_name *name);

/*
 * The recorder that records process @pid, or that is @pid. 0, or -ESRCH when no one whom we may ask
 * says so.
 */
int ask_name_of_pid(pid_t pid, struct recorder_name *name);

/*
 * The same as ask_recorder() by the recorder's name, with a text in the request: @words, each with
 * its NUL; and in the answer, which is appended to @out as it came. -EPERM when the listener under
 * that name is neither root, the caller nor the @owner.
 */
int ask_named(const struct recorder_name *name, enum request_type type, const struct strbuf *words,
	      int timeout_ms, struct request_answer *answer, struct strbuf *out);

/*
 * Set the error of a request that was not answered: "cannot WHAT: REASON". @ret: of the functions
 * above, below 0.
 */
int ask_failed(int ret, const char *what, const char *whom, struct uft_err *err);

/*
 * A recording whose program has ended may still be on its way to the disk (--keep-pid: the shell
 * goes on at once): wait until its recorder is done. Returns at once when the program still runs,
 * or when there is no recorder.
 */
void ask_wait_for_end(const char *dir);

#endif
