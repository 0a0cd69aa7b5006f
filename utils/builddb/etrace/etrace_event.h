/* Makes records of events of the etrace text, when all their lines have come. For etrace_read.c. */
#ifndef UTRAIL_BUILDDB_ETRACE_EVENT_H
#define UTRAIL_BUILDDB_ETRACE_EVENT_H

#include "utils/builddb/etrace/etrace_read.h"

/* There are no more lines of the task's event, if it has one. */
void etrace_event_finish(struct etrace_reader *reader, struct etrace_task *task);

/* Nothing will tell how the task's half event ended. */
void etrace_event_end_half(struct etrace_reader *reader, struct etrace_task *task);

/* The task of that number, possibly not announced yet. NULL without memory. */
struct etrace_task *etrace_reader_child(struct etrace_reader *reader, uint64_t upid);

/* Put all records in the order in which etrace_reader_next() gives them. */
void etrace_records_sort(struct etrace_reader *reader);

#endif
