/*
 * The options that speak of functions, -F and its relatives: collected as text, parsed when all are
 * known.
 */
#ifndef UTRAIL_CMDS_FILTER_OPTS_H
#define UTRAIL_CMDS_FILTER_OPTS_H

#include "utils/base/err.h"
#include "utils/spec/trigger.h"

struct opts;

/*
 * Parse what opts->specs holds into opts->filters. It can be done again when more was added.
 * -ERR_USAGE with the option, the column and what is wrong; -ENOMEM.
 */
int filter_opts_parse(struct opts *opts, struct uft_err *err);
void filter_opts_free(struct opts *opts);

/*
 * Check that all conditions can be judged when the function begins, as recording needs. -ERR_USAGE
 * names the one that cannot.
 */
int filter_opts_check_recording(const struct opts *opts, struct uft_err *err);

/*
 * A spec as it was typed: "option '--notrace': 'memcpy'" is @option "notrace" and @text "memcpy",
 * though it is kept as "!memcpy".
 */
struct typed_spec {
	const char *option; /* as after `--` */
	const char *text;
};
struct typed_spec filter_as_typed(enum spec_option option, const char *text);

#endif
