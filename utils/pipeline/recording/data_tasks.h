/* The tasks of a recording. Private to utils/pipeline/recording/data*.c. */
#ifndef UTRAIL_PIPELINE_DATA_TASKS_H
#define UTRAIL_PIPELINE_DATA_TASKS_H

#include "utils/base/containers/strmap.h"
#include "utils/pipeline/recording/data.h"

/* Read task.txt and look for <tid>.dat: fills tasks and sessions, except sizes and maps. */
int data_load_tasks(struct trace_data *data, struct uft_err *err);

/* Returns the tid of the task that a line other than DLOPEN is about. */
int32_t task_line_tid(const struct task_line *line);

/*
 * Apply a line other than DLOPEN, whose task exists. @sessions: the sessions known so far, by id. 0
 * or -ENOMEM.
 */
int data_apply_line(struct trace_data *data, const struct task_line *line, struct strmap *sessions);

/* Apply a DLOPEN line, when its session is known. */
int data_apply_dlopen(const struct task_line *line, const struct strmap *sessions);

/* Remember that from @start_ns on, @task ran in @session. 0 or -ENOMEM. */
int task_add_ref(struct task *task, uint64_t start_ns, struct session *session);

/*
 * Find the task from which @task has its first session: the process that forked it, or its leader;
 * or NULL.
 */
const struct task *task_origin(const struct trace_data *data, const struct task *task);

/*
 * data_grow.c: the additional state of a growing recording. Destroying it destroys data->tasks,
 * too.
 */
struct data_growth *data_growth_create(void);
int data_growth_open(struct trace_data *data, struct uft_err *err);
void data_growth_destroy(struct trace_data *data);
struct task *data_growth_task(const struct trace_data *data, int32_t tid);

/* Append a whole file of the directory to @out, like file_read_all(). */
int data_read_file(const struct trace_data *data, const char *name, size_t max_bytes,
		   struct strbuf *out, struct uft_err *err);

#endif
