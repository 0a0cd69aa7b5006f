/* Starting a browser. */
#ifndef UTRAIL_CMDS_SHOW_BROWSER_H
#define UTRAIL_CMDS_SHOW_BROWSER_H

#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/* A command that opens an address. @args: heap, up to NULL; they point into @words. */
struct browser_command {
	char *words;
	char **args;
};

/*
 * The command of one word of $BROWSER: words between blanks, without a shell. "%s" in them stands
 * for @address, "%%" for a percent sign; without a "%s" the address comes last. Empty args: there
 * is no command in it, or memory is short.
 */
void browser_command_init(struct browser_command *command, const char *text, const char *address);
void browser_command_deinit(struct browser_command *command);

/*
 * Start the browser that $BROWSER names (several, between colons: the first one that does not
 * fail), or xdg-open on a graphical desktop. Does not wait: returns the process that tries, whose
 * status is 0 when one of them has taken the address; 0: there is nothing to try; or a negative
 * errno. The browser gets none of our descriptors but empty standard ones, and no signals of our
 * terminal.
 */
pid_t browser_start(const char *address);

#endif
