/*
 * Appends records to <tid>.dat, and payloads to <tid>.evt. Counts the records that cannot be
 * written.
 */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_DATAFILE_H
#define UTRAIL_CMDS_RECORD_SOURCES_DATAFILE_H

#include <stddef.h>

#include "cmds/record/sources/writer.h"

/* The maximum number of parts to append at a time: half of the segments of the largest ring. */
#define SINK_PARTS_MAX (RING_SEGMENTS_MAX / 2)

/*
 * Append @nr parts from the ring @r to the file of the ring's task. Each part consists of whole
 * records. Records that cannot be written are counted as lost. When writing succeeds again, the
 * file gets a LOST record with the number of lost records. Records beyond --max-size are dropped,
 * and are not counted as lost.
 *
 * @sink: the sink of @r
 */
void sink_append(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink, const struct iovec *parts, int nr);

/*
 * Append parts of the second ring of @r, which has the payloads, to <tid>.evt. If a payload cannot
 * be written, the error is noted. No record is counted as lost, since only the payload is missing.
 */
void sink_append_payloads(struct writers *writers, struct process *proc, struct ring *r,
			  struct ring_sink *sink, const struct iovec *parts, int nr);

/*
 * Close the files of the ring's task. If the LOST records in the task's file of records do not
 * count all lost records, first append a LOST record with the number of the uncounted records. The
 * ring must be empty, and the owner of the ring must have ended.
 */
void sink_finish(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink);

#endif
