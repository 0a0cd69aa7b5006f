/* The executions of a recording (record --proc) in the form that the page uses. */
#ifndef UTRAIL_EXPORT_PAGE_EXECUTIONS_H
#define UTRAIL_EXPORT_PAGE_EXECUTIONS_H

#include <stddef.h>

#include "utils/base/containers/strbuf.h"
#include "utils/base/err.h"
#include "utils/pipeline/pipeline.h"

/*
 * Append the executions as JSON objects separated by commas, parents before their children.
 * Executions beyond @max_bytes are left out, and *@nr_left gets the number of these. Returns 0, or
 * a negative errno with @err.
 */
int executions_put(struct strbuf *out, const struct pipeline *pipe, size_t max_bytes,
		   size_t *nr_left, struct uft_err *err);

#endif
