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
 * Check @word, the first word of a command line. The caller has found that @word is not a command
 * of utrail. Returns -ERR_USAGE when uftrace has a command of this name. Returns 0 in all other
 * cases: @word may be a program.
 */
int unsupported_check_command(const char *word, struct uft_err *err);

#endif
