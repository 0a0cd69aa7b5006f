/*
 * The options that choose functions, such as -F. The arguments of these options are collected as
 * text, and parsed when all options are known.
 */
#ifndef UTRAIL_CMDS_FILTER_OPTS_H
#define UTRAIL_CMDS_FILTER_OPTS_H

#include "utils/base/err.h"
#include "utils/spec/filters.h"

struct opts;

/*
 * Parse opts->specs into opts->filters. Parse also the arguments of --signal, --watch, --Event,
 * --trace-include, --trace-exclude, --patch and --unpatch, and store the results in other members
 * of @opts. May be called again after specs were added. Returns 0, -ENOMEM, or -ERR_USAGE. For
 * -ERR_USAGE, @err names the option, the column and the error.
 */
int filter_opts_parse(struct opts *opts, struct uft_err *err);
void filter_opts_free(struct opts *opts);

/*
 * While a program is recorded, a filter's condition is evaluated when a function begins. Check that
 * all conditions can be evaluated at this time. Returns 0 or -ERR_USAGE. For -ERR_USAGE, @err names
 * the first condition that cannot be evaluated.
 */
int filter_opts_check_recording(const struct opts *opts, struct uft_err *err);

/*
 * A spec as the user typed it. If the user typed "--notrace memcpy", @option is "notrace" and @text
 * is "memcpy", although the spec is stored as "!memcpy".
 */
struct typed_spec {
	const char *option; /* the option's name, as it is typed after `--` */
	const char *text;
};
struct typed_spec filter_as_typed(const struct filter_entry *entry);

#endif
