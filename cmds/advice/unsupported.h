/*
 * Options of uftrace that utrail lacks: a sentence with a replacement, instead of a guess at the
 * meaning.
 */
#ifndef UTRAIL_CMDS_UNSUPPORTED_H
#define UTRAIL_CMDS_UNSUPPORTED_H

#include "utils/base/err.h"
#include "utils/base/optparse.h"

/*
 * .set of an option that is only known so that it can be refused; row->help is the replacement.
 * Returns -ERR_USAGE.
 */
int unsupported_refuse(const struct opt_row *row, const char *text, void *target,
		       struct uft_err *err);

/*
 * Judge the first word of a command line when it names no command. -ERR_USAGE when it is a command
 * that only uftrace has; 0 when it may be a program.
 */
int unsupported_check_command(const char *word, struct uft_err *err);

#endif
