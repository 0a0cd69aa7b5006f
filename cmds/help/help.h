/*
 * The output of --help, --usage and --version, made from the option table and the list of commands.
 */
#ifndef UTRAIL_CMDS_HELP_H
#define UTRAIL_CMDS_HELP_H

#include "cmds/cmd.h"
#include "utils/base/containers/strbuf.h"

/* Write the usage line and the list of commands. */
void help_usage(struct strbuf *out);

/*
 * Write the help for @cmd in the width of the terminal: the usage line, examples and frequent
 * options. If @cmd is NULL, write the help of utrail itself.
 */
void help_common(const struct cmd *cmd, struct strbuf *out);

/* Write the help of @cmd with all options. */
void help_full(const struct cmd *cmd, struct strbuf *out);

/* Write the version and the features, such as "utrail v0.1.0 ( x86_64 ... )". */
void help_version(struct strbuf *out);

#endif
