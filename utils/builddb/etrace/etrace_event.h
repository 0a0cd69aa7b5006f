/*
 * Makes records from the events of an etrace text. An event becomes a record when its last line was
 * read. Private to etrace_*.c.
 */
#ifndef UTRAIL_BUILDDB_ETRACE_EVENT_H
#define UTRAIL_BUILDDB_ETRACE_EVENT_H

#include "utils/builddb/etrace/etrace_read.h"

/*
 * Make a record of the event of @task. Call this function when all lines of the event were read. If
 * @task has no event, do nothing.
 */
void etrace_event_finish(struct etrace_reader *reader, struct etrace_task *task);

/* Forget the first half of the task's event (etrace_task.half), since no second half has come. */
void etrace_event_end_half(struct etrace_reader *reader, struct etrace_task *task);

/*
 * Find the task with the number @upid. If there is no such task, add a task with this number.
 * Returns NULL when memory is short.
 */
struct etrace_task *etrace_reader_child(struct etrace_reader *reader, uint64_t upid);

/* Sort all records for etrace_reader_next(). */
void etrace_records_sort(struct etrace_reader *reader);

#endif
