/* The records of one CPU of a trace.dat (see records.h). */
#include "utils/tracecmd/records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "utils/base/fd.h"
#include "utils/tracecmd/parts.h"

#define PAGE_BYTES_MIN	4096
#define PAGE_BYTES_MAX	65536
/* If pages are not packed: the maximum number of bytes per read. */
#define WINDOW_BYTES	(4 * PAGE_BYTES_MAX)
/*
 * The maximum size of a chunk of pages, both packed and unpacked. trace-cmd puts some tens of KB
 * into a chunk.
 */
#define CHUNK_MAX_BYTES (16U << 20)
/*
 * The largest ratio of unpacked to packed bytes: a block of zstd (RFC 8878) may represent 128 KB of
 * equal bytes by 4 bytes.
 */
#define RATIO_MAX	32768

static int make_room(struct tracedat_stream *stream, size_t len, struct uft_err *err)
{
	size_t more = len > stream->cap ? len - stream->cap : 0;
	int ret = budget_hold(&stream->file->budget, more, err);

	if (ret < 0)
		return ret;

	uint8_t *bytes = more ? realloc(stream->bytes, len) : stream->bytes;

	if (!bytes)
		return err_set_errno(err, -ENOMEM, "cannot read the records of CPU %u",
				     stream->cpu);
	stream->bytes = bytes;
	stream->cap = MAX(stream->cap, len);
	return 0;
}

int tracedat_stream_open(struct tracedat_stream *stream, struct tracedat *file,
			 const struct tracedat_buffer *buffer, const struct tracedat_cpu *cpu,
			 struct uft_err *err)
{
	uint32_t page = buffer->page_bytes;

	*stream = (struct tracedat_stream){
		.file = file,
		.buffer = buffer,
		.cpu = cpu->cpu,
		.layout = { page, file->long_size, file->is_big_endian },
		.at = cpu->offset,
		.end = cpu->offset + cpu->bytes,
	};
	if (page < PAGE_BYTES_MIN || page > PAGE_BYTES_MAX || (page & (page - 1)))
		return err_set(err, -EBADMSG, "buffer '%s': a page cannot have %u bytes",
			       buffer->name, page);
	if (file->long_size != 4 && file->long_size != 8)
		return err_set(err, -EBADMSG, "it does not say how pages begin (header_page)");
	if (!buffer->is_packed)
		return make_room(stream, WINDOW_BYTES, err);
	if (!file->unpack)
		return err_set(err, -EBADMSG, "buffer '%s' is packed, and the file says not how",
			       buffer->name);

	struct tracedat_cursor in = { .fd = file->fd,
				      .at = stream->at,
				      .end = stream->end,
				      .is_big_endian = file->is_big_endian };
	int ret = tracedat_take_u32(&in, &stream->nr_chunks, err);

	/*
	 * The file's table states the size of this CPU's records. The stated size does not include
	 * nr_chunks, which precedes the chunks.
	 */
	stream->at = in.at;
	stream->end = MIN(in.at + cpu->bytes, file->bytes);
	return ret;
}

void tracedat_stream_close(struct tracedat_stream *stream)
{
	free(stream->bytes);
	if (stream->file)
		budget_give_back(&stream->file->budget, stream->cap);
	*stream = (struct tracedat_stream){ 0 };
}

static void note_lost(struct tracedat_stream *stream, uint64_t missed)
{
	if (missed == UINT64_MAX || stream->missed == UINT64_MAX)
		stream->missed = UINT64_MAX;
	else
		stream->missed += MIN(missed, UINT64_MAX - 1 - stream->missed);
}

static void note_damage(struct tracedat_stream *stream, const char *why)
{
	tracedat_note(stream->file, "CPU %u: offset %" PRIu64 "%s: %s", stream->cpu, stream->from,
		      stream->buffer->is_packed ? ", packed" : "", why);
	note_lost(stream, UINT64_MAX);
}

/* Read pages that are not packed. Returns 1 on success, 0 at the end, or a negative errno. */
static int read_window(struct tracedat_stream *stream, struct uft_err *err)
{
	size_t wanted = MIN((uint64_t)WINDOW_BYTES, stream->end - stream->at);
	ssize_t got = fd_pread_full(stream->file->fd, stream->bytes, wanted, stream->at);

	if (got < 0)
		return err_set_errno(err, got, "offset %" PRIu64, stream->at);
	stream->from = stream->at;
	stream->at += got;
	stream->len = got;
	return got > 0;
}

/*
 * Unpack a chunk of @packed_bytes bytes at @in. The unpacked chunk must have @bytes bytes. Returns
 * 1 on success, 0 when the chunk is damaged, or a negative errno.
 */
static int unpack_chunk(struct tracedat_stream *stream, struct tracedat_cursor *in,
			uint32_t packed_bytes, uint32_t bytes, struct uft_err *err)
{
	struct strbuf packed cleanup_strbuf = { 0 };
	int ret = tracedat_take_blob(in, packed_bytes, CHUNK_MAX_BYTES, &packed, err);

	if (ret == 0)
		ret = budget_unpack(&stream->file->budget, bytes, err);
	if (ret == 0)
		ret = make_room(stream, bytes, err);
	if (ret < 0)
		return ret;
	ret = stream->file->unpack(packed.data, packed.len, stream->bytes, bytes);
	if (ret == -ENOMEM)
		return err_set_errno(err, ret, "cannot unpack the records of CPU %u", stream->cpu);
	if (ret < 0)
		note_damage(stream, "it cannot be unpacked");
	stream->len = ret == 0 ? bytes : 0;
	return ret == 0;
}

/*
 * Read the next chunk that can be unpacked. Returns 1 on success, 0 at the end, or a negative
 * errno.
 */
static int read_chunk(struct tracedat_stream *stream, struct uft_err *err)
{
	struct tracedat_cursor in = { .fd = stream->file->fd,
				      .end = stream->end,
				      .is_big_endian = stream->file->is_big_endian };
	uint32_t packed_bytes = 0;
	uint32_t bytes = 0;
	int ret = 0;

	while (ret == 0 && stream->nr_chunks) {
		stream->from = in.at = stream->at;
		if (tracedat_take_u32(&in, &packed_bytes, NULL) < 0 ||
		    tracedat_take_u32(&in, &bytes, NULL) < 0 ||
		    packed_bytes > tracedat_cursor_left(&in)) {
			note_damage(stream, "it is cut off there");
			stream->nr_chunks = 0;
			break;
		}
		stream->nr_chunks--;
		stream->at = in.at + packed_bytes;
		if (bytes > CHUNK_MAX_BYTES || packed_bytes > CHUNK_MAX_BYTES ||
		    bytes > (uint64_t)packed_bytes * RATIO_MAX)
			note_damage(stream, "what is packed would be too large");
		else if (bytes)
			ret = unpack_chunk(stream, &in, packed_bytes, bytes, err);
	}
	return ret;
}

/* Go to the next page. Returns 1 on success, 0 at the end, or a negative errno. */
static int next_page(struct tracedat_stream *stream, struct uft_err *err)
{
	struct uft_err why = { 0 };
	size_t page_bytes = stream->layout.page_bytes;
	size_t left;

	if (stream->used >= stream->len) {
		int ret = stream->buffer->is_packed ? read_chunk(stream, err)
						    : read_window(stream, err);

		stream->used = 0;
		if (ret <= 0)
			return ret;
	}
	left = stream->len - stream->used;

	int ret = kernel_page_open(&stream->page, &stream->layout, stream->bytes + stream->used,
				   left, &why);

	stream->used += MIN(page_bytes, left);
	if (ret < 0) {
		stream->page = (struct kernel_page){ 0 };
		note_damage(stream, why.text);
		return 1;
	}
	if (left < page_bytes)
		note_damage(stream, "the last page is cut off");
	/* A page without records and without a time is a hole in the file. Reading ends there. */
	if (stream->page.at == stream->page.end && !stream->page.time_ns)
		return 0;
	note_lost(stream, stream->page.missed);
	return 1;
}

int tracedat_stream_next(struct tracedat_stream *stream, struct kernel_record *rec,
			 uint64_t *missed, struct uft_err *err)
{
	for (;;) {
		struct uft_err why = { 0 };
		int ret = stream->page.start ? kernel_page_next(&stream->page, rec, &why) : 0;

		if (ret > 0) {
			*missed = stream->missed;
			stream->missed = 0;
			return 1;
		}
		if (ret < 0)
			note_damage(stream, why.text);
		ret = next_page(stream, err);
		if (ret <= 0) {
			stream->page = (struct kernel_page){ 0 };
			stream->used = stream->len = 0;
			stream->at = stream->end;
			stream->nr_chunks = 0;
			return ret;
		}
	}
}
