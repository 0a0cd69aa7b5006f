/* The tasks of a recording. Private to utils/trace/data*.c. */
#ifndef UTRAIL_TRACE_DATA_TASKS_H
#define UTRAIL_TRACE_DATA_TASKS_H

#include "utils/trace/data.h"

/* Read task.txt and look for <tid>.dat: fills tasks and sessions, but for sizes and maps. */
int data_load_tasks(struct trace_data *data, struct uft_err *err);

/* A whole file of the directory, appended to @out; as file_read_all(). */
int data_read_file(const struct trace_data *data, const char *name, size_t max_bytes,
		   struct strbuf *out, struct uft_err *err);

#endif
