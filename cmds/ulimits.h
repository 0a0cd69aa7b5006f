/*
 * Resource limits that the user has set (ulimit): runs code with a larger stack, and names limits
 * in messages.
 */
#ifndef UTRAIL_CMDS_ULIMITS_H
#define UTRAIL_CMDS_ULIMITS_H

/*
 * Returns the value of fn(argc, argv). Runs the function on a stack of at least 8 MB, if there is
 * enough memory. Threads that start later have such a stack by default.
 */
int run_with_stack(int (*fn)(int argc, char **argv), int argc, char **argv);

/*
 * Returns the limit that causes an error (a negative errno), in the words of the shell, such as ";
 * ulimit -n is 20". Returns "" when no limit causes it. The text is valid until the next call.
 */
const char *limit_behind(int code);

#endif
