/* Sends requests to the recorder that writes a data directory (utils/format/probe/request.h). */
#ifndef UTRAIL_CMDS_ASK_H
#define UTRAIL_CMDS_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/request.h"

/*
 * The name of a recorder (request.h), and the possible owners of the recorder.
 *
 * @owner: the owner of the data directory or of the recorded process. The recorder must belong to
 *         @owner, to root or to the caller
 * @secret: a secret that the recorder must know, or "" if no secret is needed
 */
struct recorder_name {
	char text[REQUEST_NAME_SIZE + 17];
	uid_t owner;
	char secret[REQUEST_SECRET_CHARS + 1];
};

/*
 * Set the function that decides whether a wait for an answer ends. @is_ended is called before each
 * wait, and after each signal during the wait. If @is_ended returns true, the wait ends with
 * -EPIPE. If @is_ended is NULL, no signal ends a wait.
 */
void ask_end_when(bool (*is_ended)(void));

/*
 * Send a request to the recorder of @dir and wait for the answer. The wait ends when the recorder
 * gives no sign of life for two seconds. A recorder that belongs neither to root nor to the caller
 * has only two seconds for its answer.
 *
 * Returns 0 on success, or a negative errno, such as:
 * -ENOTCONN: there is no recorder
 * -ETIMEDOUT: the recorder did not answer in time
 * -EPIPE: the recorder ended without an answer, or refused the caller
 * -EPERM: another process listens in the place of the recorder
 *
 * @timeout_ms: the longest wait, or -1 for no limit
 */
int ask_recorder(const char *dir, enum request_type type, int timeout_ms,
		 struct request_answer *answer);

/*
 * True when the recorder of @dir answers, and the files in @dir still grow. False for a flight
 * recording, whose files do not grow. Waits for the answer like ask_recorder().
 */
bool ask_is_recorded(const char *dir);

/*
 * Set @name to the name of the recorder that writes @dir. Does not check whether a recorder writes
 * @dir. Returns 0 or a negative errno.
 */
int ask_name_of_dir(const char *dir, struct recorder_name *name);

/*
 * Find the recorder that records process @pid, or that is process @pid. Returns 0, -ESRCH when no
 * such recorder answers the user, or another negative errno.
 */
int ask_name_of_pid(pid_t pid, struct recorder_name *name);

/*
 * Send a request with a text to the recorder @name. Waits and returns like ask_recorder(). -EPERM
 * means that the listening process does not know name->secret, or belongs neither to root, nor to
 * the caller, nor to the user name->owner.
 *
 * @words: the request's text, each word with its NUL
 * @out: the text of the answer is appended to @out
 */
int ask_named(const struct recorder_name *name, enum request_type type, const struct strbuf *words,
	      int timeout_ms, struct request_answer *answer, struct strbuf *out);

/*
 * Set @err for a request that was not answered: "cannot WHAT: REASON". @ret: the negative result of
 * a function above
 */
int ask_failed(int ret, const char *what, const char *whom, struct uft_err *err);

/*
 * Wait until the recorder of @dir has finished its work, but at most ten seconds. Readers need this
 * wait after a recording with --keep-pid, because the shell may continue before the recording is
 * complete. If there is no recorder, the function returns immediately. If the recorded program
 * still runs, the function returns when the recorder answers. A recorder that is busy with a
 * request of another process answers later.
 */
void ask_wait_for_end(const char *dir);

#endif
