/* The tasks of logs that are imported, and what each of them said, until it is written. */
#ifndef UTRAIL_CMDS_IMPORT_TASKS_H
#define UTRAIL_CMDS_IMPORT_TASKS_H

#include "cmds/record/store/store.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/fstrace/origin.h"
#include "utils/format/text.h"

/*
 * One task.
 *
 * @origin: what lines say of it. @log: of which log it is, for those whose lines say nothing
 * @is_new_process: nobody has said yet what program it is
 * @first_ns: of its first event
 * @records, @payloads: for <tid>.dat and <tid>.evt. @is_written: there are files of it
 * @next: another one with the same key
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
 * @by_origin: by a key of process and thread. @tids: those that somebody has; @pids: processes that
 * are known
 * @next_made: for tasks without a number of their own
 * @buffered: bytes that wait in all of them
 * @hides: files get their names at the end, since others read the directory
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
#define IMPORT_TID_MADE	 (FST_PID_LIMIT + 1)
/* Each takes some memory, and two files. */
#define IMPORT_TASKS_MAX 262144

/* A task of the recording that is added to: its numbers are taken. 0 or -ENOMEM. */
int import_tasks_know(struct import_tasks *tasks, int32_t pid, int32_t tid);

/*
 * The one that has written lines of @origin into the @log-th log. NULL without memory or, then
 * @is_full, when there are too many.
 */
struct import_task *import_tasks_get(struct import_tasks *tasks, const struct fst_origin *origin,
				     size_t log, bool *is_full);
void import_tasks_deinit(struct import_tasks *tasks);

/* Add an event: a record, and beside it a payload, of two parts. 0 or -ENOMEM. */
int import_tasks_add(struct import_tasks *tasks, struct import_task *task, uint64_t time_ns,
		     uint32_t id, struct text head, struct text body);

/* Write what waits. 0 or negative with @err. */
int import_tasks_flush(struct import_tasks *tasks, struct store *store, struct uft_err *err);

/*
 * When what the events mean is known: files that @hides are there for readers, in the directory
 * @dir_fd. 0 or negative with @err.
 */
int import_tasks_publish(const struct import_tasks *tasks, int dir_fd, struct uft_err *err);

/* Take away what was written. */
void import_tasks_remove(struct import_tasks *tasks, struct store *store);

#endif
