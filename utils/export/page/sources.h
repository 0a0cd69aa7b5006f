/* The functions of a page in their sources, with the text there (source_text.h). */
#ifndef UTRAIL_EXPORT_PAGE_SOURCES_H
#define UTRAIL_EXPORT_PAGE_SOURCES_H

#include "utils/base/containers/strbuf.h"
#include "utils/export/numbers.h"
#include "utils/pipeline/recording/data.h"

/*
 * Append members of a JSON object, with a comma in front:
 *
 * "places": a number of a function, a number of a file and a line, for each function whose line was
 *           recorded, in one array
 * "sources": for each file its name, "file", and then "why" it is not shown; or "runs" of lines, as
 *            arrays of the first line's number and the lines, and "ends": the first and the last
 *            line of each function, in one array
 *
 * Text beyond SOURCES_BYTES_MAX is left out, and the page says so. 0 or -ENOMEM.
 */
#define SOURCES_BYTES_MAX (1 << 20)
int sources_put(struct strbuf *json, struct trace_data *data, const struct func_numbers *functions);

#endif
