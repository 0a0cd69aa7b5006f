/*
 * -A, -R, -a and argument actions of -T: from the command line to rules, and to the keys of `info`.
 */
#ifndef UTRAIL_CMDS_ARG_OPTS_H
#define UTRAIL_CMDS_ARG_OPTS_H

#include "cmds/opts.h"
#include "utils/spec/args/argrules.h"

/*
 * Parse opts->specs into an empty @rules, in the order in which they take effect. -ERR_USAGE with
 * the line to print; -ENOMEM.
 */
int arg_opts_parse(const struct opts *opts, struct argrules *rules, struct uft_err *err);

/*
 * Write the keys argspec and retspec of `info`: the @rules about arguments, or return values, in
 * uftrace's form. "" when there are none. @has_callables: values of functions without addresses
 * (utils/format/callables.h) are recorded as texts, and rules are written for these, too
 */
void arg_opts_put(const struct argrules *rules, enum argrules_about about, bool has_callables,
		  struct strbuf *out);

/* With that option and -a: the rule that makes uftrace use their debug information. */
void arg_opts_put_auto(enum pattern_match match, struct strbuf *out);

#endif
