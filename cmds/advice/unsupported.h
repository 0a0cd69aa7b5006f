/* Refuses options of uftrace that utrail lacks, with a sentence that names a replacement. */
#ifndef UTRAIL_CMDS_UNSUPPORTED_H
#define UTRAIL_CMDS_UNSUPPORTED_H

#include "utils/base/err.h"
#include "utils/base/optparse.h"

/*
 * The .set function of an option that utrail knows only in order to refuse it. row->help names the
 * replacement. Returns -ERR_USAGE.
 */
int unsupported_refuse(const struct opt_row *row, const char *text, void *target,
		       struct uft_err *err);

/*
 * Check the first word of a command line when it names no command. Returns -ERR_USAGE when the word
 * is a command that only uftrace has. Returns 0 when the word may be a program.
 */
int unsupported_check_command(const char *word, struct uft_err *err);

#endif
