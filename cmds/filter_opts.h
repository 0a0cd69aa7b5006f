/*
 * The options about functions, -F and its relatives: collected as text, and parsed when all are
 * known.
 */
#ifndef UTRAIL_CMDS_FILTER_OPTS_H
#define UTRAIL_CMDS_FILTER_OPTS_H

#include "utils/base/err.h"
#include "utils/spec/trigger.h"

struct opts;

/*
 * Parse opts->specs into opts->filters. It may be called again after specs were added. Returns 0,
 * -ERR_USAGE with the option, the column and the error; -ENOMEM.
 */
int filter_opts_parse(struct opts *opts, struct uft_err *err);
void filter_opts_free(struct opts *opts);

/*
 * Check that all conditions can be judged at the beginning of the function, as recording needs.
 * Returns 0, or -ERR_USAGE with the first condition that cannot be judged there.
 */
int filter_opts_check_recording(const struct opts *opts, struct uft_err *err);

/*
 * A spec as the user typed it: "option '--notrace': 'memcpy'" is @option "notrace" and @text
 * "memcpy", though it is stored as "!memcpy".
 */
struct typed_spec {
	const char *option; /* the option's name, as it is typed after `--` */
	const char *text;
};
struct typed_spec filter_as_typed(enum spec_option option, const char *text);

#endif
