/*
 * Limits of resources that the user has set (ulimit): what we do about them, and how they are told.
 */
#ifndef UTRAIL_CMDS_ULIMITS_H
#define UTRAIL_CMDS_ULIMITS_H

/*
 * Returns the value of fn(argc, argv), run on a stack of 8 MB at least, if memory allows. Later
 * threads have as much by default, too.
 */
int run_with_stack(int (*fn)(int argc, char **argv), int argc, char **argv);

/*
 * The limit that causes an error, a negative errno, as the shell names it: "; ulimit -n is 20". ""
 * when there is none. Lives until the next call.
 */
const char *limit_behind(int code);

#endif
