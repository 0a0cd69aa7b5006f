/* Titles of recordings and programs, for exports and HTML. All texts are from the recording. */
#ifndef UTRAIL_VIEW_TITLES_H
#define UTRAIL_VIEW_TITLES_H

#include "utils/pipeline/recording/data.h"

/* Returns the last part of the path of @session's program, or "?" when it is unknown. */
const char *title_program(const struct session *session);

/* Returns the last part of the path of the recording's program. */
const char *title_recording(const struct trace_data *data);

/* Return the command line and the date of the recording, or "" when they are unknown. */
const char *title_cmdline(const struct trace_data *data);
const char *title_date(const struct trace_data *data);

#endif
