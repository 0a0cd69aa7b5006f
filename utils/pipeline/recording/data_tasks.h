/* The tasks of a recording. Private to utils/pipeline/recording/data*.c. */
#ifndef UTRAIL_PIPELINE_DATA_TASKS_H
#define UTRAIL_PIPELINE_DATA_TASKS_H

#include "utils/base/containers/strmap.h"
#include "utils/pipeline/recording/data.h"

/*
 * Make the tasks and sessions of task.txt. Also make a task for each file of records whose task is
 * not in task.txt. The sizes of files and the maps of sessions are read later.
 */
int data_load_tasks(struct trace_data *data, struct uft_err *err);

/* Returns the tid of the task that @line describes. @line must not be a DLOPEN line. */
int32_t task_line_tid(const struct task_line *line);

/*
 * Apply any line of task.txt except DLOPEN. The task that the line describes must exist. A new
 * session is added to @sessions, the map of all sessions by id. Returns 0 or -ENOMEM.
 */
int data_apply_line(struct trace_data *data, const struct task_line *line, struct strmap *sessions);

/*
 * Apply a DLOPEN line of task.txt to the session of the line. If @sessions does not have this
 * session, do nothing and return 0. Returns 0 or -ENOMEM.
 */
int data_apply_dlopen(const struct task_line *line, const struct strmap *sessions);

/* Remember that @task ran in @session from @start_ns. Returns 0 or -ENOMEM. */
int task_add_ref(struct task *task, uint64_t start_ns, struct session *session);

/*
 * Find the origin of @task. If @task is a forked process, the origin is the parent process. If
 * @task is a thread, the origin is the leader of the thread's process. Returns NULL if the origin
 * is unknown.
 */
const struct task *task_origin(const struct trace_data *data, const struct task *task);

/* data_grow.c: the state of a growing recording. data_growth_destroy() also frees data->tasks. */
struct data_growth *data_growth_create(const char *dir);
int data_growth_open(struct trace_data *data, struct uft_err *err);
void data_growth_destroy(struct trace_data *data);
struct task *data_growth_task(const struct trace_data *data, int32_t tid);

/* Append the content of the file @name in data->dir to @out, like file_read_all(). */
int data_read_file(const struct trace_data *data, const char *name, size_t max_bytes,
		   struct strbuf *out, struct uft_err *err);

#endif
