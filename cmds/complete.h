/*
 * --complete: prints the possible arguments of an option, one per line. A shell completes a word
 * with these arguments.
 */
#ifndef UTRAIL_CMDS_COMPLETE_H
#define UTRAIL_CMDS_COMPLETE_H

#include "cmds/opts.h"

/*
 * The kind of words that --complete requests. OPTS_COMPLETE_NOTHING means that the option is not
 * given.
 */
enum opts_complete {
	OPTS_COMPLETE_NOTHING,
	OPTS_COMPLETE_EVENTS,
	OPTS_COMPLETE_FIELDS,
	OPTS_COMPLETE_FUNCTIONS,
	OPTS_COMPLETE_KEYS,
	OPTS_COMPLETE_TIDS,
};

/*
 * Print the words for opts->cmd. Names of functions come from the program on the command line, or
 * from the data directory. No errors are printed, because a shell is completing a word.
 */
void complete_print(const struct opts *opts);

#endif
