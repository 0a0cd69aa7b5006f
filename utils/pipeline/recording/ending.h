/* The end of a recording: the parts that its recorder could not write, as text. */
#ifndef UTRAIL_PIPELINE_ENDING_H
#define UTRAIL_PIPELINE_ENDING_H

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/data.h"

/*
 * Append the parts of @data that are missing, and the reasons. True when there are any. None are
 * appended when the recording is complete, goes on, or does not tell its state.
 */
bool data_describe_end(const struct trace_data *data, struct strbuf *out);

#endif
