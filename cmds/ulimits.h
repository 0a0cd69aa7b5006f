/*
 * Resource limits that the user has set (ulimit). run_with_stack() runs a function with a stack of
 * at least 8 MB, even if the user's limit is lower. limit_behind() names the limit that has caused
 * an error.
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
 * Returns a text that names the resource limit that causes the error @code (a negative errno). An
 * example is "; ulimit -n is 20". Returns "" when no limit causes the error. The text is valid
 * until the next call.
 */
const char *limit_behind(int code);

/* True when the limit on descriptors is too low for a process to connect to a recorder. */
bool limit_has_few_files(void);

#endif
