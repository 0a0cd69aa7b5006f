/*
 * Words that change a running recording, sent to its recorder: shared by `control` and `live -p`.
 */
#ifndef UTRAIL_CMDS_CONTROL_WORDS_H
#define UTRAIL_CMDS_CONTROL_WORDS_H

#include "cmds/terminal/ask.h"
#include "cmds/opts.h"

/*
 * Send @words, each with its NUL, to the recorder @name and print its answer. Returns CMD_DONE, or
 * negative with @err: -ERR_USAGE for wrong words.
 *
 * @whom: the user's name for the recorder
 */
int control_send(const struct opts *opts, const struct recorder_name *name, const char *whom,
		 const struct strbuf *words, struct uft_err *err);

/*
 * Find the recorder that writes the directory @text, or records the process with that number.
 * Returns 0 or negative errno with a text.
 */
int control_find(const char *text, struct recorder_name *name, struct uft_err *err);

/* True when @text is the number of a process that an utrail of this user is recording. */
bool control_is_recorded(const char *text);

/*
 * Does `live -p PID` for a process that is recorded already: sends the options of the command line
 * as words.
 */
int control_live(const struct opts *opts, struct uft_err *err);

#endif
