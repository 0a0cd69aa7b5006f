/* The end of a recording: the parts that its recorder could not write, in words. */
#ifndef UTRAIL_TRACE_ENDING_H
#define UTRAIL_TRACE_ENDING_H

#include "utils/base/containers/strbuf.h"
#include "utils/trace/recording/data.h"

/*
 * Append the missing parts of @data, and the reasons. Nothing when it is whole, when it is still
 * being recorded, or when its recorder does not say how it ended. True when there was something.
 */
bool data_describe_end(const struct trace_data *data, struct strbuf *out);

#endif
