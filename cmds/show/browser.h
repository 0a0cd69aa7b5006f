/* Starts a browser. */
#ifndef UTRAIL_CMDS_SHOW_BROWSER_H
#define UTRAIL_CMDS_SHOW_BROWSER_H

#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * A command that opens an address. @args: its argv, which ends with NULL; on the heap. The strings
 * are in @words
 */
struct browser_command {
	char *words;
	char **args;
};

/*
 * Make the command of a word of $BROWSER, split at blanks, without a shell. @args is empty when
 * there is no command or no memory.
 *
 * @address: replaces each "%s", or is the last argument; "%%" is a percent sign
 */
void browser_command_init(struct browser_command *command, const char *text, const char *address);
void browser_command_deinit(struct browser_command *command);

/*
 * Start the first browser of $BROWSER (between colons) that does not fail, or xdg-open on a
 * graphical desktop. Does not wait. Returns the process that tries the browsers, 0 when there is no
 * browser to try, or a negative errno.
 *
 * The process ends with status 0 when a browser has taken the address. Browsers get empty standard
 * descriptors and no other descriptors, and no signals of the command's terminal.
 */
pid_t browser_start(const char *address);

#endif
