/* An open data directory: header, info, tasks, sessions, modules. */
#ifndef UTRAIL_PIPELINE_DATA_H
#define UTRAIL_PIPELINE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/base/containers/intmap.h"
#include "utils/format/header.h"
#include "utils/format/info.h"
#include "utils/pipeline/recording/args.h"
#include "utils/pipeline/recording/kernel_formats.h"
#include "utils/pipeline/recording/module.h"
#include "utils/pipeline/recording/session.h"

/* The session in which a task ran from @start_ns. */
struct session_ref {
	uint64_t start_ns;
	struct session *session;
};

/* A name that a task got at @start_ns, by prctl or exec. The text is on the heap. */
struct task_name {
	uint64_t start_ns;
	char *name;
};

/*
 * One task (thread or process) of the recording.
 *
 * @index: the index in data->tasks. data->tasks is sorted by tid, except in a growing recording
 * @start_ns: the time of the task's first TASK or FORK line in task.txt. Without such a line, the
 *            time of the task's first SESS line. If task.txt does not name the task, the time of an
 *            event of the task. 0: unknown
 * @is_fork: the task began as a copy of @ppid
 * @has_session: a SESS line names the task
 * @has_own_line: there is a TASK or FORK line
 * @data_bytes: the number of bytes of <tid>.dat, or of the decoded <tid>.cdat. In a growing
 *              recording, the number of bytes that may be read now
 * @compact: the blocks of <tid>.cdat; NULL: there is no such file, or there is <tid>.dat
 * @first_ns: no record of the task is earlier than @first_ns; set by pipeline_open(); 0: unknown
 * @refs: the task's sessions, sorted by time. If the recording has sessions, the task has at least
 *        one session
 * @names: the task's names, sorted by time. A task may have no name (see task_name_at())
 */
struct task {
	int32_t tid;
	int32_t pid;
	int32_t ppid;
	uint32_t index;
	uint64_t start_ns;
	bool is_fork;
	bool has_session;
	bool has_own_line;
	uint64_t data_bytes;
	struct compact_file *compact;
	uint64_t first_ns;
	struct session_ref *refs;
	size_t nr_refs;
	struct task_name *names;
	size_t nr_names;
};

struct data_growth;

/*
 * @dir: the directory, as given
 * @is_big_endian: byte order of all binary files
 * @has_declared: the program has declared events (declared.h)
 * @kernel: the formats of the kernel's records; loaded before the records are read
 * @growth: state of a growing recording (data_open_growing()); else NULL
 */
struct trace_data {
	char *dir;
	struct data_header header;
	struct info info;
	bool is_big_endian;
	bool has_declared;
	struct module_set modules;
	struct arg_book args;
	struct kernel_formats kernel;
	struct session **sessions;
	size_t nr_sessions;
	struct task *tasks;
	size_t nr_tasks;
	struct data_growth *growth;
};

/*
 * Open the recording @dir; data_close() closes it.
 *
 * Returns 0, -ENOENT when @dir or one of its files is missing, -ENOTDIR when @dir is not a
 * directory, -EINVAL when a file is invalid, or another negative errno. The text of @err names the
 * file.
 */
int data_open(struct trace_data *data, const char *dir, enum demangle_mode demangle,
	      struct uft_err *err);
void data_close(struct trace_data *data);

/*
 * Open a directory that is being recorded into. At first, @data has no tasks. Repeat these steps:
 *
 * - data_read_more() reads the new lines of task.txt.
 * - The caller waits until the maps and symbols of new sessions are written.
 * - data_grow() makes tasks and sessions from the lines. Tasks never move in memory.
 * - data_measure_files() determines the readable part of each task's file.
 * - Call data_read_more() and data_grow() once more. Then each session with records in a readable
 *   part is known, because the line of a session is written before the records of the session.
 */
int data_open_growing(struct trace_data *data, const char *dir, enum demangle_mode demangle,
		      struct uft_err *err);
int data_read_more(struct trace_data *data, struct uft_err *err);

/*
 * Make tasks and sessions from the lines of task.txt that data_read_more() has read. Returns 1 when
 * there were complete lines. After this result, an address may belong to another function than
 * before. Returns 0 when there was no complete line, or a negative errno with @err.
 */
int data_grow(struct trace_data *data, struct uft_err *err);

/*
 * Determine task.data_bytes of each task. Returns 0, or a negative errno with @err if the file of a
 * task exists, but is not a regular file or cannot be read. A missing file is no error.
 */
int data_measure_files(struct trace_data *data, struct uft_err *err);

/*
 * For a growing recording: check that the path data->dir still leads to the directory that was
 * opened. A new recorder renames the directory of an earlier recording, and makes a new directory
 * at this path. Returns 0 if the directory is the same. Otherwise, returns -ESTALE with @err.
 */
int data_check_name(const struct trace_data *data, struct uft_err *err);
#define cleanup_data cleanup(data_close)

/* True when there is at least one record to read. */
bool data_has_records(const struct trace_data *data);

/* Find the task with this id. Returns NULL if there is none. */
struct task *data_task(const struct trace_data *data, int32_t tid);

/*
 * Store the name @name, which task @tid has from @time_ns. Unknown tasks are ignored. Returns 0 or
 * -ENOMEM.
 */
int data_name_task(struct trace_data *data, int32_t tid, uint64_t time_ns, const char *name);

/*
 * Tasks that are known only from their events. Starts as { 0 }, ends with task_list_deinit().
 * @by_tid: maps from a tid to 1 + the index in @all
 */
struct task_list {
	struct task *all;
	size_t nr;
	struct intmap by_tid;
};

void task_list_deinit(struct task_list *list);
#define cleanup_task_list cleanup(task_list_deinit)

/* Sort the tasks by start time. task_list_get() is not allowed afterwards. */
void task_list_sort_by_time(struct task_list *list);

/* Find the task with this id, or add it. Returns NULL when memory is short. */
struct task *task_list_get(struct task_list *list, int32_t tid);

/*
 * Add the tasks to @data, which is not a growing recording. The tasks get the first session of
 * @data, if there is one. Pointers to tasks become invalid, and all tasks lose their names. Returns
 * 0 or -ENOMEM.
 */
int data_add_tasks(struct trace_data *data, const struct task_list *list);

/* Sort the names of a task by time. data_name_task() appends each name at the end. */
void task_sort_names(struct task *task);
void data_sort_names(struct trace_data *data);

/* Find the session of @task at @time_ns. Returns NULL when the task has no session. */
struct session *task_session(const struct task *task, uint64_t time_ns);

/*
 * Returns the first time after @now_ns at which the task executes another program. Returns
 * UINT64_MAX if there is no such time. The start of the task's first session does not count.
 */
uint64_t task_next_exec_ns(const struct task *task, uint64_t now_ns);

/* Order tasks by start time, then by number, for qsort(3). */
static inline int task_order(const struct task *x, const struct task *y)
{
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The session and the address space of a task, valid until @until_ns. */
struct task_place {
	struct session *session;
	struct addr_space *space;
	uint64_t until_ns;
};

/*
 * Find the session and the address space of @task at @time_ns. @reader: see session_space().
 * Returns 0, -ENODATA when the recording has no session for the task, or -ENOMEM.
 */
int task_place_at(const struct task *task, unsigned reader, uint64_t time_ns,
		  struct task_place *place, struct uft_err *err);

/*
 * Returns the name of the task at @time_ns. If the task has got no name since its last exec, the
 * result is the base name of its program, or "" if the task has no session. The result is valid
 * until data_add_tasks() or data_close().
 */
const char *task_name_at(const struct task *task, uint64_t time_ns);

#endif
