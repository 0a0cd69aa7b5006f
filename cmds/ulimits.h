/*
 * Resource limits that the user has set (ulimit): our reaction to them, and their names in
 * messages.
 */
#ifndef UTRAIL_CMDS_ULIMITS_H
#define UTRAIL_CMDS_ULIMITS_H

/*
 * Returns the value of fn(argc, argv), run on a stack of 8 MB at least, if memory allows. Later
 * threads have as much by default, too.
 */
int run_with_stack(int (*fn)(int argc, char **argv), int argc, char **argv);

/*
 * The limit that causes an error (a negative errno) in the shell's words: "; ulimit -n is 20". ""
 * when there is none. Valid until the next call.
 */
const char *limit_behind(int code);

#endif
