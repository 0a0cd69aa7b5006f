/*
 * Errors. Each function passes its error on to its caller, as a number and a text in a struct
 * uft_err. This struct has a fixed size, so that an error can be reported without allocating
 * memory.
 */
#ifndef UTRAIL_BASE_ERR_H
#define UTRAIL_BASE_ERR_H

#include "utils/base/compiler.h"

#define ERR_TEXT_MAX 1024

/*
 * A code outside errno, for mistakes of the user: an unknown option, field or sort key, or a number
 * out of range. The command exits with status 2 instead of 1.
 */
#define ERR_USAGE 1000

/*
 * An error. Starts as { 0 }. The function that fails fills it in, and its callers add context in
 * front. A caller that does not need the error passes NULL instead of a struct uft_err.
 *
 * @code: 0 while nothing has failed; a negative errno or -ERR_USAGE
 * @text: one line without a newline and without the program's name, truncated if it is too long:
 *         "cannot open 'x': No such file". Control characters are shown as \xNN. Other hidden
 *         characters (escape.h) are escaped when the text is printed (cmds/terminal/msg.c)
 */
struct uft_err {
	int code;
	char text[ERR_TEXT_MAX];
};

/*
 * Record a failure, unless @err has one already. @code is a negative errno or -ERR_USAGE. Returns
 * @code, for `return err_set(err, -EINVAL, ...)`.
 */
int err_set(struct uft_err *err, int code, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Like err_set(), but adds ": " and the text of errno -@code to the message. */
int err_set_errno(struct uft_err *err, int code, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Change @err->text to "context: text". Does nothing if @err is NULL or has no failure. */
void err_prefix(struct uft_err *err, const char *fmt, ...) PRINTF_FORMAT(2, 3);

void err_clear(struct uft_err *err);

#endif
