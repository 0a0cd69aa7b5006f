/* Reading <tid>.cdat (see compact_file.h). */
#include "utils/pipeline/recording/compact_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/format/record.h"

#define SEARCH_BYTES (64U << 10)

void compact_file_deinit(struct compact_file *file)
{
	free(file->places);
	*file = (struct compact_file){ 0 };
}

static int add_place(struct compact_file *file, uint64_t at, uint64_t len,
		     const struct compact_head *head)
{
	struct compact_place *places = vec_grow(file->places, file->nr, sizeof(*places));

	if (!places)
		return -ENOMEM;
	file->places = places;
	places[file->nr++] = (struct compact_place){
		.raw = file->raw_bytes,
		.at = at,
		.raw_len = head ? head->raw_len : sizeof(struct record),
		.len = MIN(len, (uint64_t)UINT32_MAX),
		.has_head = head,
	};
	file->raw_bytes += places[file->nr - 1].raw_len;
	file->end = at + len;
	return 0;
}

/*
 * Find the first header at @at or after it. Returns 1 with *@found, 0 if there is no header, or a
 * negative errno.
 */
static int find_head(int fd, uint64_t at, uint64_t *found)
{
	uint8_t *bytes cleanup_free = malloc(SEARCH_BYTES);
	struct compact_head head;
	ssize_t got;

	if (!bytes)
		return -ENOMEM;
	while ((got = fd_pread_full(fd, bytes, SEARCH_BYTES, at)) >= COMPACT_HEAD_BYTES) {
		size_t last = got - COMPACT_HEAD_BYTES;

		for (size_t i = 0; i <= last; i++) {
			if (compact_head_decode(bytes + i, &head)) {
				*found = at + i;
				return 1;
			}
		}
		at += last + 1;
	}
	return got < 0 ? got : 0;
}

int compact_file_look(struct compact_file *file, int fd)
{
	struct stat st;

	file->is_torn = false;
	if (fstat(fd, &st) < 0)
		return -errno;
	for (;;) {
		uint8_t bytes[COMPACT_HEAD_BYTES];
		struct compact_head head;
		uint64_t at = file->end;
		ssize_t got = fd_pread_full(fd, bytes, sizeof(bytes), at);
		int ret;

		if (got < (ssize_t)sizeof(bytes)) {
			file->is_torn = got > 0;
			return got < 0 ? got : 0;
		}
		if (compact_head_decode(bytes, &head)) {
			uint64_t len = COMPACT_HEAD_BYTES + (uint64_t)head.body_len;

			/*
			 * If the file ends within the block, a later call of this function looks
			 * for the block again.
			 */
			if (at + len > (uint64_t)st.st_size) {
				file->is_torn = true;
				return 0;
			}
			ret = add_place(file, at, len, &head);
		} else {
			uint64_t next = 0;

			ret = find_head(fd, at + 1, &next);
			if (ret <= 0) {
				file->is_torn = true;
				return ret;
			}
			ret = add_place(file, at, next - at, NULL);
		}
		if (ret < 0)
			return ret;
	}
}

_Static_assert(offsetof(struct compact_place, raw) == 0, "searched by order_count_until()");

const struct compact_place *compact_file_place(const struct compact_file *file, uint64_t raw)
{
	size_t nr = order_count_until(file->places, file->nr, sizeof(*file->places), raw);

	return nr && raw < file->raw_bytes ? &file->places[nr - 1] : NULL;
}

bool compact_file_head(const struct compact_place *place, int fd, struct compact_head *head)
{
	uint8_t bytes[COMPACT_HEAD_BYTES];

	return place->has_head &&
	       fd_pread_full(fd, bytes, sizeof(bytes), place->at) == sizeof(bytes) &&
	       compact_head_decode(bytes, head);
}

int compact_file_load(const struct compact_place *place, int fd, uint8_t *bytes,
		      struct compact_head *head)
{
	ssize_t got = fd_pread_full(fd, bytes, place->len, place->at);

	if (got < 0)
		return got;
	memset(bytes + got, 0, place->len - got + COMPACT_SLACK);
	/* The header is checked again, in case the file was changed meanwhile. */
	return (uint32_t)got == place->len && compact_head_decode(bytes, head) &&
	       head->raw_len == place->raw_len && head->body_len == place->len - COMPACT_HEAD_BYTES;
}

size_t compact_file_put_lost(uint32_t nr, uint8_t *out)
{
	const uint64_t words[2] = { 0, htole64(record_data(RECORD_LOST, 0, nr ? nr : 1)) };

	memcpy(out, words, sizeof(words));
	return sizeof(words);
}

/*
 * The state while blocks are read into the memory of the caller.
 *
 * @bytes: one block, as in the file
 * @whole: the decoded block, if the caller gets only a part of the block. Otherwise NULL
 */
struct reader {
	const struct compact_file *file;
	int fd;
	struct compact_coder *coder;
	uint8_t *bytes;
	uint8_t *whole;
	struct compact_read *read;
};

static void reader_close(struct reader *reader)
{
	compact_coder_destroy(reader->coder);
	free(reader->bytes);
	free(reader->whole);
}

/* Replace a damaged block of @nr records (0: unknown) by a LOST record. */
static ssize_t put_lost(struct reader *reader, const struct compact_place *place, uint32_t nr,
			uint8_t *out)
{
	reader->read->damaged_at = MIN(reader->read->damaged_at, place->at);
	reader->read->is_whole = true;
	return compact_file_put_lost(nr, out);
}

/*
 * Decode a block to @out. A damaged block is replaced by a LOST record. Returns the length of the
 * result, or a negative errno.
 */
static ssize_t read_block(struct reader *reader, const struct compact_place *place, uint8_t *out)
{
	struct compact_head head = { 0 };
	int got;

	if (!place->has_head)
		return put_lost(reader, place, 0, out);
	got = compact_file_load(place, reader->fd, reader->bytes, &head);
	if (got < 0)
		return got;
	if (got == 0)
		return put_lost(reader, place, 0, out);
	if (!compact_decode(reader->coder, &head, reader->bytes + COMPACT_HEAD_BYTES, out))
		return put_lost(reader, place, head.nr_records, out);
	reader->read->is_whole = !head.is_cut;
	return head.raw_len;
}

/*
 * Returns the maximum number of bytes that read_block() may write. A LOST record may be longer than
 * the block that it replaces.
 */
static size_t block_room(const struct compact_place *place)
{
	return MAX((size_t)place->raw_len, sizeof(struct record));
}

/* Read a part of a block. The block is longer than @room, or begins before the wanted offset. */
static ssize_t read_part(struct reader *reader, const struct compact_place *place, uint8_t *buf,
			 size_t room, uint64_t end)
{
	struct compact_read *read = reader->read;
	size_t skip = read->offset - place->raw;

	reader->whole = malloc(COMPACT_RAW_MAX);
	if (!reader->whole)
		return -ENOMEM;

	ssize_t got = read_block(reader, place, reader->whole);

	if (got < 0)
		return got;
	if (read->damaged_at != UINT64_MAX) {
		memcpy(buf, reader->whole, got);
		read->offset = place->raw + place->raw_len;
		return got;
	}

	size_t len = MIN(place->raw_len - skip, room);

	len = MIN(len, end - read->offset);
	memcpy(buf, reader->whole + skip, len);
	read->offset += len;
	read->is_whole &= skip + len == place->raw_len || read->offset == end;
	return len;
}

/*
 * Decode as many whole blocks as there is room for. The first block may begin read->skip bytes
 * before the wanted offset.
 */
static ssize_t read_blocks(struct reader *reader, const struct compact_place *place, uint8_t *buf,
			   size_t room, uint64_t end)
{
	const struct compact_place *last = reader->file->places + reader->file->nr;
	struct compact_read *read = reader->read;
	size_t len = 0;

	read->skip = read->offset - place->raw;
	for (; place < last && place->raw < end && block_room(place) <= room - len; place++) {
		ssize_t got = read_block(reader, place, buf + len);
		bool is_lost = read->damaged_at != UINT64_MAX;

		if (got < 0)
			return got;
		if (is_lost && len == 0)
			read->skip = 0;
		len += got;
		read->offset = place->raw + place->raw_len;
		if (read->offset > end && !is_lost) {
			len -= read->offset - end;
			read->offset = end;
		}
		/*
		 * Stop at damage, which must be reported, and at a record that continues in the
		 * next block.
		 */
		if (is_lost || !read->is_whole)
			break;
	}
	return len;
}

ssize_t compact_file_read(const struct compact_file *file, int fd, uint8_t *buf, size_t room,
			  uint64_t end, struct compact_read *read)
{
	const struct compact_place *place = compact_file_place(file, read->offset);
	struct reader reader cleanup(reader_close) = { .file = file, .fd = fd, .read = read };

	read->skip = 0;
	read->is_whole = true;
	read->damaged_at = UINT64_MAX;
	if (!place || read->offset >= end)
		return 0;
	reader.coder = compact_coder_create();
	reader.bytes = malloc(compact_bound(COMPACT_RAW_MAX) + COMPACT_SLACK);
	if (!reader.coder || !reader.bytes)
		return -ENOMEM;
	if (block_room(place) <= room && (read->offset == place->raw || read->may_skip))
		return read_blocks(&reader, place, buf, room, end);
	return read_part(&reader, place, buf, room, end);
}
