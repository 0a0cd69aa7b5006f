/*
 * Words that change a recording that goes on, sent to its recorder: what `control` and `live -p`
 * have in common.
 */
#ifndef UTRAIL_CMDS_CONTROL_WORDS_H
#define UTRAIL_CMDS_CONTROL_WORDS_H

#include "cmds/terminal/ask.h"
#include "cmds/opts.h"

/*
 * Send @words, each with its NUL, to the recorder @name and print what it answers. @whom: how the
 * user has called it. Returns CMD_DONE, -ERR_USAGE for words that are none, or another negative
 * errno with a text.
 */
int control_send(const struct opts *opts, const struct recorder_name *name, const char *whom,
		 const struct strbuf *words, struct uft_err *err);

/*
 * The recorder that works on the directory @text, or records the process of that number. 0 or
 * negative errno with a text.
 */
int control_find(const char *text, struct recorder_name *name, struct uft_err *err);

/* True when @text is the number of a process that an utrail of ours is recording. */
bool control_is_recorded(const char *text);

/* `live -p PID` of such a process: the options of the command line, as words. */
int control_live(const struct opts *opts, struct uft_err *err);

#endif
