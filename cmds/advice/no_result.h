/*
 * Explains why nothing is left to show or to record. The text names the options that leave
 * everything out. The text also tells facts about the recording, such as the duration of the
 * longest call.
 */
#ifndef UTRAIL_CMDS_NO_RESULT_H
#define UTRAIL_CMDS_NO_RESULT_H

#include "cmds/opts.h"
#include "utils/base/containers/strbuf.h"

struct pipeline;
struct trace_data;

/*
 * Call this function when a view has ended and had nothing to show. Prints the reason. @pipe is the
 * pipeline of the view. If @pipe was stopped (pipeline.is_stopped), or has found a damaged file,
 * prints nothing. Otherwise reads the recording again: first without the options that leave calls
 * or other data out of the view, and then with one of these options at a time.
 */
void no_result_explain(const struct opts *opts, const struct pipeline *pipe);

/* Like no_result_explain(), for a view that reads the files of @data without a pipeline. */
void no_result_explain_data(const struct opts *opts, struct trace_data *data);

/*
 * Append the options that leave calls out, as a user would type them: "-t 10s, --filter=main".
 * Appends nothing when there are none.
 */
void no_result_add_options(const struct opts *opts, struct strbuf *out);

#endif
