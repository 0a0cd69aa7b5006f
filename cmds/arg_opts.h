/*
 * -A, -R, -a and what -T says about arguments: from the command line to rules, and to what `info`
 * says of them.
 */
#ifndef UTRAIL_CMDS_ARG_OPTS_H
#define UTRAIL_CMDS_ARG_OPTS_H

#include "cmds/opts.h"
#include "utils/spec/args/argrules.h"

/*
 * Parse opts->specs into an empty @rules, in the order in which they count. -ERR_USAGE with the
 * line to print; -ENOMEM.
 */
int arg_opts_parse(const struct opts *opts, struct argrules *rules, struct uft_err *err);

/*
 * The keys argspec and retspec of `info`: what @rules say about arguments, or return values, as
 * uftrace reads it. "" when they say nothing. @has_callables: values of functions without addresses
 * (utils/format/callables.h) are recorded as texts, and rules say that, too
 */
void arg_opts_put(const struct argrules *rules, enum argrules_about about, bool has_callables,
		  struct strbuf *out);

/* With that, and -a: the rule that leads uftrace to their debug information. */
void arg_opts_put_auto(enum pattern_match match, struct strbuf *out);

#endif
