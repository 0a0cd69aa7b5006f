/* The data files: appending to <tid>.dat, and counting records that a full disk loses. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_DATAFILE_H
#define UTRAIL_CMDS_RECORD_SOURCES_DATAFILE_H

#include <stddef.h>

#include "cmds/record/sources/writer.h"

/* At most so many parts are appended at a time: half of a ring. */
#define SINK_PARTS_MAX (RING_SEGMENTS_MAX / 2)

/*
 * Append @nr parts, each of whole records, from the ring @r to the file of its task. Records that
 * cannot be written are counted, and the file gets a LOST record with their number as soon as there
 * is space again.
 *
 * @sink: the sink of @r
 */
void sink_append(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink, const struct iovec *parts, int nr);

/*
 * Append parts of the second ring of @r, which has payloads, to <tid>.evt. A payload that cannot be
 * written is only an error: its record exists.
 */
void sink_append_payloads(struct writers *writers, struct process *proc, struct ring *r,
			  struct ring_sink *sink, const struct iovec *parts, int nr);

/* The ring's owner is gone and the ring is empty: write the last losses, and close the file. */
void sink_finish(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink);

#endif
