/*
 * The output of --help, --usage and --version, made from the option table and the list of commands.
 */
#ifndef UTRAIL_CMDS_HELP_H
#define UTRAIL_CMDS_HELP_H

#include "cmds/cmd.h"
#include "utils/base/containers/strbuf.h"

/* The usage line and the list of commands. */
void help_usage(struct strbuf *out);

/*
 * The text for @cmd: usage line, examples and frequent options; with NULL that of all commands. As
 * wide as the terminal.
 */
void help_common(const struct cmd *cmd, struct strbuf *out);

/* The help text with all options. */
void help_full(const struct cmd *cmd, struct strbuf *out);

/* "utrail v0.1.0 ( x86_64 ... )" */
void help_version(struct strbuf *out);

/* "-D, --depth=DEPTH" */
void help_option_names(const struct opt_row *row, struct strbuf *out);

#endif
