/* Starts a browser. */
#ifndef UTRAIL_CMDS_SHOW_BROWSER_H
#define UTRAIL_CMDS_SHOW_BROWSER_H

#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * A command that opens a web address.
 *
 * @args: the argv of the command, an array on the heap; the last pointer is NULL, and the other
 *         pointers point into @words
 */
struct browser_command {
	char *words;
	char **args;
};

/*
 * Make @command from @text, a part of $BROWSER. @text is split at blanks, without a shell.
 * command->args is empty when @text has only blanks, and NULL when there is not enough memory.
 *
 * @address: replaces each "%s" of @text. If @text has no "%s", @address becomes the last argument.
 *           "%%" is a percent sign
 */
void browser_command_init(struct browser_command *command, const char *text, const char *address);
void browser_command_deinit(struct browser_command *command);

/*
 * Start the first browser of $BROWSER that does not fail. The commands in $BROWSER are separated by
 * colons. If $BROWSER contains no command, start xdg-open on a graphical desktop instead. Does not
 * wait for the browser. Returns the process that tries the browsers, 0 when there is no browser to
 * try, or a negative errno.
 *
 * The returned process ends with status 0 when a browser has accepted the address. Browsers get
 * /dev/null as standard input, output and error, and get no other descriptors. The terminal of
 * utrail sends no signals to the browsers.
 */
pid_t browser_start(const char *address);

#endif
