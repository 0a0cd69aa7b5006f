/* The tasks of imported logs, with their events until these are written. */
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
 * @origin: its process and thread in the lines
 * @log: its log, for tasks whose lines name no process
 * @is_new_process: the recording lacks its program
 * @records, @payloads: bytes to write to <tid>.dat and <tid>.evt
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
 * @tids, @pids: numbers of tasks, and known processes
 * @next_made: the next number for a task that has none
 * @buffered: unwritten bytes of all tasks
 * @hides: readers may be reading the directory: files get their names at the end
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

/* No task of Linux has such a number. */
#define IMPORT_TID_MADE	    (FST_PID_LIMIT + 1)
/* The number of bytes that wait in memory before they are written. */
#define IMPORT_BUFFER_BYTES (32UL << 20)
/*
 * The latest time of an event. Records with the same time are stored a nanosecond apart: later
 * times up to INT64_MAX are left for these.
 */
#define IMPORT_NS_MAX	    (INT64_MAX - (1LL << 40))
/* Each task takes some memory, and two files. */
#define IMPORT_TASKS_MAX    262144

/*
 * Note a task of the existing recording, so that no other task gets its numbers. Returns 0 or
 * -ENOMEM.
 */
int import_tasks_know(struct import_tasks *tasks, int32_t pid, int32_t tid);

/*
 * Returns the task that has written lines of @origin into the log with index @log. Returns NULL
 * without memory, or with @is_full set.
 */
struct import_task *import_tasks_get(struct import_tasks *tasks, const struct fst_origin *origin,
				     size_t log, bool *is_full);
void import_tasks_deinit(struct import_tasks *tasks);

/* Add an event: a record, and a payload beside it, in two parts. Returns 0 or -ENOMEM. */
int import_tasks_add(struct import_tasks *tasks, struct import_task *task, uint64_t time_ns,
		     uint32_t id, struct text head, struct text body);

/* Write the records that still wait. Returns 0, or negative with @err. */
int import_tasks_flush(struct import_tasks *tasks, struct store *store, struct uft_err *err);

/*
 * With @hides, give the files their names in the directory @dir_fd, after the events' definitions
 * are written. Returns 0, or negative with @err.
 */
int import_tasks_publish(const struct import_tasks *tasks, int dir_fd, struct uft_err *err);

/* Remove the files that were written. */
void import_tasks_remove(struct import_tasks *tasks, struct store *store);

#endif
