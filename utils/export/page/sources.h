/* Writes the source lines of functions, with their line numbers, into the exported page. */
#ifndef UTRAIL_EXPORT_PAGE_SOURCES_H
#define UTRAIL_EXPORT_PAGE_SOURCES_H

#include "utils/base/containers/strbuf.h"
#include "utils/export/numbers.h"
#include "utils/pipeline/recording/data.h"

/*
 * Append members of a JSON object, with a comma in front. Returns 0 or -ENOMEM. Text beyond
 * SOURCES_BYTES_MAX is left out, and the page says so.
 *
 * - "places": three numbers for each function whose line is known: function, file, line
 * - "sources": an object for each file. The object's "file" is the name of the file. The object
 *   also has either "why", the reason why the file is not shown, or "runs" and "ends"
 * - "runs": runs of successive lines. A run is an array. Its first element is the number of the
 *   run's first line. The other elements are the lines
 * - "ends": the first and the last line of each function
 */
#define SOURCES_BYTES_MAX (1 << 20)
int sources_put(struct strbuf *json, struct trace_data *data, const struct func_numbers *functions);

#endif
