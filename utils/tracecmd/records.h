/*
 * Reads the records of one CPU of a trace.dat, in the order of the file. The pages of records may
 * be packed (compressed).
 */
#ifndef UTRAIL_TRACECMD_RECORDS_H
#define UTRAIL_TRACECMD_RECORDS_H

#include "utils/format/kernel/kernel_dat.h"
#include "utils/tracecmd/tracedat.h"

/*
 * Starts as { 0 } and ends with tracedat_stream_close(). The range [@at, @end) of the file is
 * unread.
 *
 * @bytes: a buffer of @cap bytes, which contains @len bytes of pages. The page after @page begins
 *         at the offset @used of the buffer
 * @from: for messages: the file offset of the first page in @bytes. If the pages were packed: the
 *        file offset of their packed chunk
 * @nr_chunks: number of unread chunks
 * @missed: number of records lost before the next record; UINT64_MAX: unknown
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
 * Open the records of a CPU. Returns 0, or a negative error with @err: -EBADMSG when the file is
 * damaged or has an unknown form, -EDQUOT when the memory limit (budget.h) is exceeded, -ENOMEM, or
 * the errno of a failed read. @file and @buffer must outlive @stream.
 */
int tracedat_stream_open(struct tracedat_stream *stream, struct tracedat *file,
			 const struct tracedat_buffer *buffer, const struct tracedat_cpu *cpu,
			 struct uft_err *err);
void tracedat_stream_close(struct tracedat_stream *stream);

/*
 * Get the next record, with its raw time. The record is valid until the next call. Returns 1 on
 * success, 0 after the last record, or a negative error with @err when the file cannot be read.
 * Damage is noted in @stream->file, and is reported in @missed, like lost records. Losses after the
 * last record are not returned.
 *
 * @missed: gets the number of records that were lost before the returned record
 */
int tracedat_stream_next(struct tracedat_stream *stream, struct kernel_record *rec,
			 uint64_t *missed, struct uft_err *err);

#endif
