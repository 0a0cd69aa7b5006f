/* Tells, as text, the parts of a recording that are missing. */
#ifndef UTRAIL_PIPELINE_ENDING_H
#define UTRAIL_PIPELINE_ENDING_H

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/data.h"

/*
 * Append a text that names the missing parts of @data, and the reasons. If the recording is still
 * being made, or if no part is known to be missing, append nothing and return false.
 */
bool data_describe_end(const struct trace_data *data, struct strbuf *out);

#endif
