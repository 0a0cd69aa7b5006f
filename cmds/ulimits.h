/*
 * Resource limits that the user has set (ulimit): runs code with a larger stack, and names limits
 * in messages.
 */
#ifndef UTRAIL_CMDS_ULIMITS_H
#define UTRAIL_CMDS_ULIMITS_H

#include <stdbool.h>

/*
 * Returns the value of fn(argc, argv). If the user's limit on the stack is below 8 MB, sets the
 * default stack of new threads to 8 MB, and runs @fn in a new thread. If the new thread cannot
 * start, runs @fn in the present thread.
 *
 * If @fn runs in a new thread and forks, the child exits when @fn returns in the child. The exit
 * status of the child is the value that @fn has returned.
 */
int run_with_stack(int (*fn)(int argc, char **argv), int argc, char **argv);

/*
 * Returns the limit that causes an error (a negative errno), in the words of the shell, such as ";
 * ulimit -n is 20". Returns "" when no limit causes it. The text is valid until the next call.
 */
const char *limit_behind(int code);

/* True when the limit on descriptors is too low for a process to connect to a recorder. */
bool limit_has_few_files(void);

#endif
