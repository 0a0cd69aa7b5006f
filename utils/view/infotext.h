/* View: facts about the recording, its machine and its end (doc/facts/text.md, "Info"). */
#ifndef UTRAIL_VIEW_INFOTEXT_H
#define UTRAIL_VIEW_INFOTEXT_H

#include "utils/base/err.h"
#include "utils/format/info.h"
#include "utils/pipeline/recording/data.h"
#include "utils/base/sink.h"

/* Show all facts about the recording, and the user's note.txt. */
int info_show(struct trace_data *data, struct sink *sink, struct uft_err *err);

/*
 * Show the facts in @info that describe a machine. For `info --system`, @info describes the machine
 * on which utrail runs.
 */
void info_show_machine(const struct info *info, struct sink *sink);

/*
 * Show a line for each task: the time when the task was first seen, two flags, the thread ID, the
 * name, and the size of the task's records.
 */
int info_show_tasks(struct trace_data *data, struct sink *sink, struct uft_err *err);

/* Show the symbols of the program itself, and then those of the library functions that it calls. */
int info_show_symbols(struct trace_data *data, struct sink *sink, struct uft_err *err);

#endif
