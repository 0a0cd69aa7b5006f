/* The data files: appending to <tid>.dat, and counting what a full disk does not take. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_DATAFILE_H
#define UTRAIL_CMDS_RECORD_SOURCES_DATAFILE_H

#include <stddef.h>

#include "cmds/record/sources/writer.h"

/*
 * Append whole records of @r, which @sink stands for, to its task's file. A record that cannot be
 * written is counted, and a LOST record tells of it at that place as soon as there is room again.
 */
void sink_append(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink, const void *data, size_t len);

/*
 * The same for the content of its second ring, and <tid>.evt. A payload that cannot be written is
 * only an error: its records are there.
 */
void sink_append_payloads(struct writers *writers, struct process *proc, struct ring *r,
			  struct ring_sink *sink, const void *data, size_t len);

/*
 * The ring's owner is gone and all is taken from it: tell what is still to be told, close the file.
 */
void sink_finish(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink);

#endif
