/* Examples and frequent options of each command, for the beginning of the command's help. */
#ifndef UTRAIL_CMDS_HELP_OFTEN_H
#define UTRAIL_CMDS_HELP_OFTEN_H

#include "cmds/cmd.h"

#define HELP_EXAMPLES_MAX 2
#define HELP_OFTEN_MAX	  10

/*
 * @examples: each example is a pair: a command line without "utrail", and a text that states the
 *            purpose of the command line
 * @often: names of options, the most important first; the list ends with NULL
 */
struct help_often {
	const struct cmd *cmd;
	const char *examples[HELP_EXAMPLES_MAX][2];
	const char *often[HELP_OFTEN_MAX + 1];
};

/*
 * Returns the examples and options of @cmd, or those of utrail itself if @cmd is NULL. Returns NULL
 * when there are none.
 */
const struct help_often *help_often_of(const struct cmd *cmd);

#endif
