/* The end of a recording: the parts that its recorder could not write, as text. */
#ifndef UTRAIL_PIPELINE_ENDING_H
#define UTRAIL_PIPELINE_ENDING_H

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/data.h"

/*
 * Append the missing parts of @data, and the reasons. Nothing when it is complete, still being
 * recorded, or without a state of its recorder. True when there was something.
 */
bool data_describe_end(const struct trace_data *data, struct strbuf *out);

#endif
