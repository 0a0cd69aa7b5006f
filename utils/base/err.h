/* Error text on its way up: fixed size, owned by the caller, cannot leak and cannot fail. */
#ifndef UTRAIL_BASE_ERR_H
#define UTRAIL_BASE_ERR_H

#include "utils/base/compiler.h"

#define ERR_TEXT_MAX 1024

/*
 * A code that is no errno: the words the user typed are wrong (unknown option, field, sort key,
 * a number out of range). The command line ends with exit status 2 for it, 1 for everything else.
 */
#define ERR_USAGE 1000

/*
 * Filled by the function that saw the failure; callers on the way up add context in front.
 *
 * @code: negative errno of the first failure, 0 while nothing has failed
 * @text: one line without a newline and without a program name, e.g. "cannot open 'x': No such
 *        file"; control characters of names in it are shown as \xNN, and the printer escapes all
 *        else that is hidden (cmds/terminal/msg.c)
 *
 * Storage belongs to the caller, which starts it as { 0 }. Every function accepts NULL for "not
 * interested". Text that does not fit is cut, never an error.
 */
struct uft_err {
	int code;
	char text[ERR_TEXT_MAX];
};

/*
 * Note a failure. @code is a negative errno or -ERR_USAGE. The first failure wins: when @err
 * already holds one, it is kept. Returns @code, so that `return err_set(err, -EINVAL, ...)` reads
 * well.
 */
int err_set(struct uft_err *err, int code, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Like err_set(), with ": " and the text of errno @code after the message. */
int err_set_errno(struct uft_err *err, int code, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Put context in front of the text: "context: text". Does nothing while nothing has failed. */
void err_prefix(struct uft_err *err, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/* Forget the error, so that @err can be used again. */
void err_clear(struct uft_err *err);

#endif
