/* The tasks of imported logs. The records of a task are in memory until import_tasks_flush(). */
#ifndef UTRAIL_CMDS_IMPORT_TASKS_H
#define UTRAIL_CMDS_IMPORT_TASKS_H

#include "cmds/record/store/store.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/fstrace/origin.h"
#include "utils/format/text.h"

/*
 * A task of the logs.
 *
 * @origin: the process and the thread, as the lines of the logs name them
 * @log: the index of the log that has the task's first line
 * @is_new_process: this is the first task with its pid in the recording, so a session must be made
 * @records, @payloads: bytes that are to be written to <tid>.dat and <tid>.evt
 * @is_written: <tid>.dat and <tid>.evt exist
 * @next: another task with the same key in import_tasks.by_origin
 */
struct import_task {
	struct fst_origin origin;
	size_t log;
	int32_t pid;
	int32_t tid;
	bool is_new_process;
	bool is_written;
	uint64_t first_ns;
	struct strbuf records;
	struct strbuf payloads;
	struct import_task *next;
};

/*
 * Starts as { .next_made = IMPORT_TID_MADE }, ends with import_tasks_deinit().
 *
 * @by_origin: finds a task by its process and thread. Tasks with the same key form a list
 * @tids, @pids: the ids of all tasks of the existing recording, and of all tasks of the logs
 * @next_made: the next tid that the import makes up. A task gets such a tid if the log gives no
 *         valid number for the task, or if the task's number is in use
 * @buffered: the number of unwritten bytes of all tasks
 * @hides: files have hidden names until import_tasks_publish(), because other processes may be
 *         reading the directory
 */
struct import_tasks {
	struct import_task **all;
	size_t nr;
	struct intmap by_origin;
	struct intmap tids;
	struct intmap pids;
	int32_t next_made;
	struct import_task *last;
	size_t buffered;
	bool hides;
};

/* The first tid that the import makes up. Each task of Linux has a smaller tid. */
#define IMPORT_TID_MADE	    (FST_PID_LIMIT + 1)
/* Records are written when more bytes than this number wait in memory. */
#define IMPORT_BUFFER_BYTES (32UL << 20)
/* The latest time that an event may have: about 18 minutes before INT64_MAX. */
#define IMPORT_NS_MAX	    (INT64_MAX - (1LL << 40))
/* The maximum number of tasks. Each task takes some memory and two files. */
#define IMPORT_TASKS_MAX    262144

/*
 * Note that the existing recording has the task @tid of the process @pid. After this call, no task
 * of the logs gets the id @tid, and no new session is made for @pid. Returns 0 or -ENOMEM.
 */
int import_tasks_know(struct import_tasks *tasks, int32_t pid, int32_t tid);

/*
 * Returns the task of @origin. If there is no such task yet, adds a task. If @origin has no process
 * number, the task belongs to a single log, and @log is the index of this log. Returns NULL when
 * there is not enough memory, or when there are too many tasks. @is_full is set to true when there
 * are too many, and to false in all other cases.
 */
struct import_task *import_tasks_get(struct import_tasks *tasks, const struct fst_origin *origin,
				     size_t log, bool *is_full);
void import_tasks_deinit(struct import_tasks *tasks);

/* Add an event: a record, and its payload, which is given in two parts. Returns 0 or -ENOMEM. */
int import_tasks_add(struct import_tasks *tasks, struct import_task *task, uint64_t time_ns,
		     uint32_t id, struct text head, struct text body);

/* Write the records that are still buffered. Returns 0, or a negative error with @err. */
int import_tasks_flush(struct import_tasks *tasks, struct store *store, struct uft_err *err);

/*
 * If the files of the tasks have hidden names (@hides), give these files their final names in the
 * directory @dir_fd. The caller must already have written the definitions of the events. Returns 0,
 * or a negative error with @err.
 */
int import_tasks_publish(const struct import_tasks *tasks, int dir_fd, struct uft_err *err);

/* Remove the files that were written. */
void import_tasks_remove(struct import_tasks *tasks, struct store *store);

#endif
