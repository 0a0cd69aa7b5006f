/* Error text that is passed up: fixed size, owned by the caller, cannot leak and cannot fail. */
#ifndef UTRAIL_BASE_ERR_H
#define UTRAIL_BASE_ERR_H

#include "utils/base/compiler.h"

#define ERR_TEXT_MAX 1024

/*
 * A code outside errno: the user's words are wrong (unknown option, field, sort key, a number out
 * of range). The command then exits with status 2, and with 1 for other errors.
 */
#define ERR_USAGE 1000

/*
 * Filled by the function that failed; callers prepend context.
 *
 * @code: negative errno of the first failure, 0 while nothing has failed
 * @text: one line without a newline and without a program name, e.g. "cannot open 'x': No such
 *        file"; control characters of names in it are shown as \xNN, and the printer escapes
 *        other hidden characters (cmds/terminal/msg.c)
 *
 * Storage belongs to the caller, which starts it as { 0 }. Every function accepts NULL if the error
 * is not needed. Text that does not fit is truncated, never an error.
 */
struct uft_err {
	int code;
	char text[ERR_TEXT_MAX];
};

/*
 * Record a failure. @code is a negative errno or -ERR_USAGE. The first failure wins: if @err
 * already holds one, it is kept. Returns @code, so that `return err_set(err, -EINVAL, ...)` works.
 */
int err_set(struct uft_err *err, int code, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Like err_set(), with ": " and the text of errno @code after the message. */
int err_set_errno(struct uft_err *err, int code, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Prepend context to the text: "context: text". Does nothing without a failure. */
void err_prefix(struct uft_err *err, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/* Forget the error, so that @err can be used again. */
void err_clear(struct uft_err *err);

#endif
