/*
 * Makes records of the events of an etrace text. A record is made when all lines of its event have
 * come. For etrace_read.c.
 */
#ifndef UTRAIL_BUILDDB_ETRACE_EVENT_H
#define UTRAIL_BUILDDB_ETRACE_EVENT_H

#include "utils/builddb/etrace/etrace_read.h"

/* End the task's event, if it has one: all its lines have come. */
void etrace_event_finish(struct etrace_reader *reader, struct etrace_task *task);

/* Forget the task's first half: its second half will not come. */
void etrace_event_end_half(struct etrace_reader *reader, struct etrace_task *task);

/*
 * Find or make the task with that number, which may not have been announced yet. NULL without
 * memory.
 */
struct etrace_task *etrace_reader_child(struct etrace_reader *reader, uint64_t upid);

/* Sort all records into the order in which etrace_reader_next() returns them. */
void etrace_records_sort(struct etrace_reader *reader);

#endif
