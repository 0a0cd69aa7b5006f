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
 * Make the command of a word of $BROWSER. It is split at blanks, without a shell. "%s" in it stands
 * for @address, "%%" for a percent sign; without a "%s" the address is the last argument. @args
 * stays empty when there is no command in the word, or memory is short.
 */
void browser_command_init(struct browser_command *command, const char *text, const char *address);
void browser_command_deinit(struct browser_command *command);

/*
 * Start the browser that $BROWSER names, or xdg-open on a graphical desktop. $BROWSER may have
 * several commands, between colons: the first that does not fail is used. Does not wait: returns a
 * process that tries them, or 0 when there is nothing to try, or a negative errno. The status of
 * that process is 0 when a command has taken the address. The browser gets empty standard
 * descriptors and no others, and no signals of the command's terminal.
 */
pid_t browser_start(const char *address);

#endif
