/* The tasks of imported logs. A task holds the records of its events until a file has them. */
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
 * @origin: its process and thread, as the lines name them
 * @log: the index of the log that has the task's first line
 * @is_new_process: it is the recording's first task of this process, so the process needs a session
 * @records, @payloads: bytes that are to be written to <tid>.dat and <tid>.evt
 * @is_written: its files exist
 * @next: another task with the same key
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
 * @by_origin: tasks by a key of process and thread
 * @tids: the thread ids that tasks of the recording have
 * @pids: the process ids that tasks of the recording have
 * @next_made: the number that is given to the next task whose own number is unknown or in use
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

/* The first of the numbers that no task of Linux has. */
#define IMPORT_TID_MADE	    (FST_PID_LIMIT + 1)
/* The number of bytes that wait in memory before they are written. */
#define IMPORT_BUFFER_BYTES (32UL << 20)
/*
 * The latest time that an event may have. Records with the same time are stored a nanosecond apart,
 * so later times up to INT64_MAX are reserved for such records.
 */
#define IMPORT_NS_MAX	    (INT64_MAX - (1LL << 40))
/* The maximum number of tasks. Each task takes some memory and two files. */
#define IMPORT_TASKS_MAX    262144

/*
 * Enter a task of the existing recording, so that no other task gets its numbers. Returns 0 or
 * -ENOMEM.
 */
int import_tasks_know(struct import_tasks *tasks, int32_t pid, int32_t tid);

/*
 * Returns the task that writes lines of @origin, and adds it if it is new. If @origin has no
 * process number, the task belongs to one log; @log is the index of the log. Returns NULL when
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
 * Give hidden files their final names in the directory @dir_fd. The caller must already have
 * written the definitions of the events. Returns 0, or a negative error with @err.
 */
int import_tasks_publish(const struct import_tasks *tasks, int dir_fd, struct uft_err *err);

/* Remove the files that were written. */
void import_tasks_remove(struct import_tasks *tasks, struct store *store);

#endif
