/* Tells, as text, the parts of a recording that are missing. */
#ifndef UTRAIL_PIPELINE_ENDING_H
#define UTRAIL_PIPELINE_ENDING_H

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/data.h"

/*
 * Append a text that names the missing parts of @data, and the reasons. Append nothing and return
 * false when the recording is complete, is still being made, or contains no known state.
 */
bool data_describe_end(const struct trace_data *data, struct strbuf *out);

#endif
