/*
 * Sends orders to the recorder of a running recording. The orders are words, such as "depth" and
 * "3". They come from the arguments of `control`, or from the options of `live -p`.
 */
#ifndef UTRAIL_CMDS_CONTROL_WORDS_H
#define UTRAIL_CMDS_CONTROL_WORDS_H

#include "cmds/terminal/ask.h"
#include "cmds/opts.h"

/*
 * Send @words, each with its NUL, to the recorder @name and print the recorder's answer. Returns
 * CMD_DONE on success, -ERR_USAGE for wrong words, or another negative error. @err is set for all
 * errors except -ENOMEM from the check of the words.
 *
 * @whom: the text by which the user named the recorder
 */
int control_send(const struct opts *opts, const struct recorder_name *name, const char *whom,
		 const struct strbuf *words, struct uft_err *err);

/*
 * Find the recorder that writes the directory @text, or records the process with the number @text.
 * Returns 0, or a negative errno with @err.
 */
int control_find(const char *text, struct recorder_name *name, struct uft_err *err);

/* True when @text is the number of a process that is being recorded by an utrail of this user. */
bool control_is_recorded(const char *text);

/*
 * Do the work of `live -p PID` for a process that is already being recorded: send the options of
 * the command line as words.
 */
int control_live(const struct opts *opts, struct uft_err *err);

#endif
