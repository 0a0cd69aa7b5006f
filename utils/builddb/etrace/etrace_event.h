/*
 * Makes records of the events of an etrace text, each after the last line of its event. For
 * etrace_read.c.
 */
#ifndef UTRAIL_BUILDDB_ETRACE_EVENT_H
#define UTRAIL_BUILDDB_ETRACE_EVENT_H

#include "utils/builddb/etrace/etrace_read.h"

/* End the task's event, if it has one, after the last line of the event. */
void etrace_event_finish(struct etrace_reader *reader, struct etrace_task *task);

/* Forget the first half of an event (etrace_task.half): its second half does not come. */
void etrace_event_end_half(struct etrace_reader *reader, struct etrace_task *task);

/*
 * Returns the task with that number, which is made if no line has told of it yet. NULL without
 * memory.
 */
struct etrace_task *etrace_reader_child(struct etrace_reader *reader, uint64_t upid);

/* Sort all records for etrace_reader_next(). */
void etrace_records_sort(struct etrace_reader *reader);

#endif
