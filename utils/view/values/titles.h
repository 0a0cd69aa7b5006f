/*
 * Titles of recordings and programs: headings of exports and pages. All text is of the recording's.
 */
#ifndef UTRAIL_VIEW_TITLES_H
#define UTRAIL_VIEW_TITLES_H

#include "utils/pipeline/recording/data.h"

/* The last part of the path of @session's program, "?" when it is unknown. */
const char *title_program(const struct session *session);

/* The title of the recording: the last part of the name of its program. */
const char *title_recording(const struct trace_data *data);

/* The command line of the recording and its date; "" when they are unknown. */
const char *title_cmdline(const struct trace_data *data);
const char *title_date(const struct trace_data *data);

#endif
