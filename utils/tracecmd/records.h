/* The records of one CPU of a trace.dat, one after the other, from pages that may be packed. */
#ifndef UTRAIL_TRACECMD_RECORDS_H
#define UTRAIL_TRACECMD_RECORDS_H

#include "utils/format/kernel/kernel_dat.h"
#include "utils/tracecmd/tracedat.h"

/*
 * [@at, @end) of the file is unread. Starts as { 0 }, ends with tracedat_stream_close().
 *
 * @bytes: room for @cap bytes; @len of them are pages, which are unread from @used on
 * @from: the place in the file at which these pages, or their packed chunk, begin
 * @nr_chunks: the number of remaining chunks
 * @missed: records lost before the next one; UINT64_MAX: an unknown number
 */
struct tracedat_stream {
	struct tracedat *file;
	const struct tracedat_buffer *buffer;
	uint32_t cpu;
	struct kernel_layout layout;
	uint64_t at;
	uint64_t end;
	uint8_t *bytes;
	size_t cap;
	size_t len;
	size_t used;
	uint64_t from;
	uint32_t nr_chunks;
	struct kernel_page page;
	uint64_t missed;
};

/*
 * Open the records of a CPU. 0; -EBADMSG with @err when there cannot be any records; -ENOMEM. @file
 * and @buffer must outlive @stream.
 */
int tracedat_stream_open(struct tracedat_stream *stream, struct tracedat *file,
			 const struct tracedat_buffer *buffer, const struct tracedat_cpu *cpu,
			 struct uft_err *err);
void tracedat_stream_close(struct tracedat_stream *stream);

/*
 * Get the next record, with its raw time, and the number of records lost before it. The record is
 * valid until the next call. 1; 0 at the end; negative with @err when the file cannot be read.
 * Damage is noted in the file's notes, and counts as lost.
 */
int tracedat_stream_next(struct tracedat_stream *stream, struct kernel_record *rec,
			 uint64_t *missed, struct uft_err *err);

#endif
