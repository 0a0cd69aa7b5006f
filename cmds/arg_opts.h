/* Makes rules, and keys of `info`, of -A, -R, -a and the argument actions of -T. */
#ifndef UTRAIL_CMDS_ARG_OPTS_H
#define UTRAIL_CMDS_ARG_OPTS_H

#include "cmds/opts.h"
#include "utils/spec/args/argrules.h"

/*
 * Parse opts->specs into an empty @rules, in the order in which they take effect. Returns 0,
 * -ERR_USAGE with the line to print, or -ENOMEM.
 */
int arg_opts_parse(const struct opts *opts, struct argrules *rules, struct uft_err *err);

/*
 * Write the key argspec or retspec of `info` in uftrace's form: the @rules about @about, or "".
 *
 * @has_callables: also write the rules for functions without addresses (utils/format/callables.h)
 */
void arg_opts_put(const struct argrules *rules, enum argrules_about about, bool has_callables,
		  struct strbuf *out);

/*
 * Write, for -a, the rule that makes uftrace use the debug information of functions without
 * addresses. @match: how uftrace reads patterns of this recording.
 */
void arg_opts_put_auto(enum pattern_match match, struct strbuf *out);

#endif
