/* Source of events: the records of one <tid>.dat (see src_user.h). */
#include "utils/pipeline/sources/src_user.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/format/bytes.h"
#include "utils/format/counter_record.h"
#include "utils/format/datadir.h"
#include "utils/format/record.h"
#include "utils/pipeline/recording/compact_file.h"

/*
 * The tasks share this many bytes for their buffers. With many tasks, the buffers need more bytes,
 * because each buffer has at least SRC_USER_MIN_BUFFER bytes.
 */
#define BUFFERS_BYTES	  (24UL << 20)
/*
 * The files of all tasks stay open only if RLIMIT_NOFILE leaves this many descriptors for the
 * output, perf files and the pager.
 */
#define SPARE_DESCRIPTORS 64
/*
 * A LOST record has no time. If no record with a time comes before a LOST record, the LOST record
 * gets the time of a later record or block. The search examines at most LOSSES_MAX records, and
 * the heads of at most LOSSES_MAX blocks.
 */
#define LOSSES_MAX	  16

struct src_user_plan src_user_plan(size_t nr_tasks)
{
	size_t share = BUFFERS_BYTES / (nr_tasks ? nr_tasks : 1) & ~4095UL;
	struct rlimit limit;
	bool fits = getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
		    nr_tasks + SPARE_DESCRIPTORS <= limit.rlim_cur;

	share = MAX(share, (size_t)SRC_USER_MIN_BUFFER);
	return (struct src_user_plan){
		.buffer_bytes = MIN(share, (size_t)SRC_USER_MAX_BUFFER),
		.keeps_open = fits,
	};
}

static void file_name(const struct src_user *src, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%d%s", src->data->dir, src->tid,
		 src->compact ? DATADIR_COMPACT_SUFFIX : ".dat");
}

static int open_file(struct src_user *src, struct uft_err *err)
{
	char path[PATH_MAX];

	file_name(src, path);
	src->fd = file_open_regular(path, err);
	return src->fd < 0 ? src->fd : 0;
}

static struct record load_record(const struct src_user *src, size_t at)
{
	struct record rec;

	memcpy(&rec, src->buf + at, sizeof(rec));
	if (src->is_swapped) {
		rec.time_ns = __builtin_bswap64(rec.time_ns);
		rec.data = __builtin_bswap64(rec.data);
	}
	return rec;
}

static uint64_t next_ns(struct source *source)
{
	const struct src_user *src = (const struct src_user *)source;

	if (src->at_end)
		return UINT64_MAX;
	if (src->len - src->at >= sizeof(struct record)) {
		struct record rec = load_record(src, src->at);

		if (record_magic_is_good(rec.data) && record_type(rec.data) != RECORD_LOST)
			return rec.time_ns;
	}

	uint64_t ns = src_user_is_by_calls(src) ? compact_block_next_ns(&src->cursor->block) : 0;

	if (ns)
		return ns;
	return src->next_offset == 0 && source->task ? source->task->first_ns : src->last_ns;
}

static ssize_t read_source(struct source *source, struct event *events, size_t max,
			   uint64_t until_ns, struct uft_err *err)
{
	return src_user_read((struct src_user *)source, events, max, until_ns, err);
}

/*
 * Prepare for new records: the recording may have grown. New modules or sessions may have changed
 * the functions in the address space, so src->place must be found again.
 */
static int more(struct source *source, struct uft_err *err)
{
	struct src_user *src = (struct src_user *)source;

	src->place.space = NULL;
	if (source->task)
		src->compact = source->task->compact;
	if (src->is_damaged)
		return 0;
	src->file_ended = false;
	src->at_end = false;
	return 0;
}

static void close_source(struct source *source)
{
	src_user_close((struct src_user *)source);
}

int src_user_open(struct src_user *src, struct trace_data *data, int32_t tid,
		  const struct src_user_plan *plan, struct uft_err *err)
{
	static const struct source_ops ops = { next_ns, read_source, more, close_source };
	bool host_is_big = BYTE_ORDER == BIG_ENDIAN;

	*src = (struct src_user){
		.source = { .ops = &ops, .task = data_task(data, tid) },
		.data = data,
		.tid = tid,
		.fd = -1,
		.keeps_open = plan->keeps_open,
		.is_swapped = data->is_big_endian != host_is_big,
		.cap = plan->blocks ? SRC_USER_MIN_BUFFER : plan->buffer_bytes,
		.full_cap = plan->buffer_bytes,
		.blocks = plan->blocks,
		.end_offset = UINT64_MAX,
	};
	src->beside = (struct event_data_source){
		.dir = data->dir,
		.tid = tid,
		.is_swapped = src->is_swapped,
		.may_be = data->has_declared || data->growth,
		.grows = data->growth,
		.buffer_bytes = plan->buffer_bytes,
	};
	if (src->source.task)
		src->compact = src->source.task->compact;
	return 0;
}

void src_user_release(struct src_user *src)
{
	if (src->fd >= 0)
		close(src->fd);
	src->fd = -1;
	if (src->blocks)
		blocks_give(src->blocks, src->buf);
	else
		free(src->buf);
	src->buf = NULL;
	src->at = 0;
	src->len = 0;
	compact_cursor_destroy(src->cursor);
	src->cursor = NULL;
	event_data_release(&src->beside);
}

int src_user_take_fd(struct src_user *src)
{
	int fd = src->keeps_open ? src->fd : -1;

	if (fd >= 0)
		src->fd = -1;
	return fd;
}

void src_user_close(struct src_user *src)
{
	src_user_release(src);
	*src = (struct src_user){ .fd = -1 };
}

void src_user_limit(struct src_user *src, uint64_t start, uint64_t end, uint64_t last_ns)
{
	src->at = 0;
	src->len = 0;
	src->at_end = false;
	src->file_ended = false;
	src->is_whole = false;
	src->next_offset = start;
	src->end_offset = end;
	src->last_ns = last_ns;
	src->after_lost_ns = 0;
}

/*
 * Get a buffer. With many tasks, the buffer for the first records of a task is small, since these
 * records may stay there until the records of many other tasks are read. Later, the task gets a
 * large buffer, usually from a task that has ended.
 */
static bool get_buffer(struct src_user *src)
{
	if (!src->buf) {
		src->buf = malloc(src->cap);
	} else if (src->cap < src->full_cap) {
		uint8_t *buf = blocks_take(src->blocks, src->full_cap);

		if (!buf)
			return false;
		memcpy(buf, src->buf, src->len);
		free(src->buf);
		src->buf = buf;
		src->cap = src->full_cap;
	}
	return src->buf;
}

/* Remember a damaged block for src_user_take_damage(). Its records are missing. */
static void note_damaged_block(struct src_user *src, uint64_t at)
{
	src->has_lost_block = true;
	src->lost_block_at = at;
}

/*
 * Searches the heads of the blocks for a time, and returns the first time found. The search begins
 * with the block at @offset, and examines at most LOSSES_MAX blocks. Returns 0 if none of the heads
 * of these blocks has a time.
 */
static uint64_t time_of_blocks(const struct src_user *src, uint64_t offset)
{
	for (unsigned i = 0; i < LOSSES_MAX; i++) {
		const struct compact_place *place = compact_file_place(src->compact, offset);
		struct compact_head head;

		if (!place)
			break;
		if (compact_file_head(place, src->fd, &head) && head.first_ns)
			return head.first_ns;
		offset = place->raw + place->raw_len;
	}
	return 0;
}

/*
 * Remember the damaged block at the file offset @at. The buffer has a LOST record in place of the
 * block, and src->next_offset is after the block.
 */
static void note_lost_block(struct src_user *src, uint64_t at)
{
	note_damaged_block(src, at);
	src->after_lost_ns = src->last_ns ? 0 : time_of_blocks(src, src->next_offset);
}

bool src_user_take_damage(struct src_user *src, struct uft_err *err)
{
	char path[PATH_MAX];

	if (!src->has_lost_block)
		return false;
	src->has_lost_block = false;
	file_name(src, path);
	err_set(err, -EBADMSG,
		"'%s' is damaged at offset %llu: the records of one block are lost, the "
		"others are there",
		path, (unsigned long long)src->lost_block_at);
	return true;
}

/*
 * Decode the rest of a block to records in the buffer. The calls before this rest were read one by
 * one (src_user_calls()).
 */
static ssize_t read_rest(struct src_user *src)
{
	struct compact_cursor *cursor = src->cursor;
	uint64_t end = MIN(cursor->raw_end, src->end_offset);
	size_t len = cursor->raw_end - src->next_offset;
	size_t nr = len / sizeof(struct record);

	src->is_whole = true;
	src->file_ended = end >= MIN(src->end_offset, src->compact->raw_bytes);
	src->len = end - src->next_offset;
	src->next_offset = end;
	if (!compact_block_rest(&cursor->block, src->buf, len)) {
		src->len = compact_file_put_lost(nr, src->buf);
		note_lost_block(src, cursor->at);
	}
	cursor->raw_end = 0;
	return src->len;
}

/*
 * Read the decoded bytes of a compact file's blocks. Returns the number of bytes, or a negative
 * errno.
 */
static ssize_t read_compact(struct src_user *src, size_t left, size_t room)
{
	struct compact_read read = { .offset = src->next_offset, .may_skip = left == 0 };
	ssize_t n = compact_file_read(src->compact, src->fd, src->buf + left, room, src->end_offset,
				      &read);

	if (n < 0)
		return n;
	src->at = read.skip;
	src->len += n;
	src->next_offset = read.offset;
	src->is_whole = read.is_whole;
	src->file_ended = read.offset >= MIN(src->end_offset, src->compact->raw_bytes);
	if (read.damaged_at != UINT64_MAX)
		note_lost_block(src, read.damaged_at);
	return n;
}

static ssize_t read_plain(struct src_user *src, size_t left, size_t room)
{
	ssize_t n = fd_pread_full(src->fd, src->buf + left, room, src->next_offset);

	if (n < 0)
		return n;
	src->len += n;
	src->next_offset += n;
	src->file_ended = src->len < src->cap;
	return n;
}

/*
 * Move the unread bytes to the beginning of the buffer, and fill the rest of the buffer from the
 * file. Returns 1 on success, 0 at the end of the file, or a negative errno.
 */
static int refill_user(struct src_user *src, struct uft_err *err)
{
	size_t left = src->len - src->at;

	event_data_return(&src->beside);
	if (!get_buffer(src))
		return err_set_errno(err, -ENOMEM, "cannot read '%d.dat'", src->tid);

	if (src->fd < 0) {
		int ret = open_file(src, err);

		if (ret < 0)
			return ret;
	}
	memmove(src->buf, src->buf + src->at, left);
	src->at = 0;
	src->len = left;
	if (src_user_is_by_calls(src))
		return read_rest(src) > 0;

	size_t room = src->cap - left;
	ssize_t n = src->compact
			    ? read_compact(src, left, room)
			    : read_plain(src, left, MIN(room, src->end_offset - src->next_offset));

	if (!src->keeps_open) {
		close(src->fd);
		src->fd = -1;
	}
	if (n < 0) {
		char path[PATH_MAX];

		file_name(src, path);
		return err_set_errno(err, n, "cannot read '%s'", path);
	}
	return n > 0;
}

/* True when @next could be the record directly after the ENTRY or EXIT @rec. */
static bool can_follow(const struct record *rec, const struct record *next)
{
	/*
	 * One year. The next record is assumed to come within one year after @rec. Bytes of a
	 * payload that look like a record rarely contain a time in this range.
	 */
	const uint64_t longest_ns = 365ULL * 86400 * 1000000000;
	unsigned depth = record_depth(rec->data);
	unsigned next_depth = record_depth(next->data);
	bool is_entry = record_type(rec->data) == RECORD_ENTRY;

	if (!record_magic_is_good(next->data))
		return false;
	if (record_type(next->data) == RECORD_LOST)
		return next->time_ns == 0 && next_depth == 0;
	if (next->time_ns < rec->time_ns || next->time_ns - rec->time_ns > longest_ns)
		return false;
	switch (record_type(next->data)) {
	case RECORD_ENTRY:
		return next_depth == depth + is_entry;
	case RECORD_EXIT:
		if (is_entry)
			return next_depth == depth &&
			       record_addr(next->data) == record_addr(rec->data);
		return next_depth + 1 == depth;
	default:
		return true;
	}
}

/*
 * Returns the length of a payload without a specification. The payload ends at the next record that
 * fits the call stack, or at the end of the file.
 */
static size_t guess_payload(const struct src_user *src, const struct record *rec, size_t at)
{
	size_t left = src->len - at;

	for (size_t len = 8; len <= PAYLOAD_MAX_BYTES && len + sizeof(*rec) <= left; len += 8) {
		struct record next = load_record(src, at + len);

		if (can_follow(rec, &next))
			return len;
	}
	return MIN(left, (size_t)PAYLOAD_MAX_BYTES);
}

static const struct func_args *args_of(struct src_user *src, const struct record *rec)
{
	struct task_place *place = &src->place;

	if (!src->source.task)
		return NULL;
	if ((!place->space || rec->time_ns >= place->until_ns) &&
	    task_place_at(src->source.task, src->reader, rec->time_ns, place, NULL) < 0)
		return NULL;

	const struct func *func = space_func(place->space, record_addr(rec->data), NULL);

	return func ? arg_book_find(&src->data->args, func) : NULL;
}

/* True when a record or the file ends where the buffer ends. */
static bool ends_here(const struct src_user *src)
{
	return src->file_ended || src->is_whole;
}

/*
 * Returns the length of the payload at @at. The length follows from the specification of the
 * function's arguments or return value. After the payload, there must be a record, or the end of
 * the buffer if ends_here() is true. Otherwise, or if there is no specification, returns 0.
 */
static size_t known_payload(struct src_user *src, const struct record *rec, size_t at)
{
	const struct func_args *known = args_of(src, rec);
	bool is_exit = record_type(rec->data) != RECORD_ENTRY;
	size_t left = src->len - at;
	size_t len = known ? func_args_length(known, is_exit, src->buf + at, left,
					      src->data->is_big_endian)
			   : 0;

	if (len == 0)
		return 0;

	size_t padded = ALIGN_UP(len, (size_t)ARGBLOB_TOTAL_ALIGN);

	if (padded + sizeof(*rec) > left)
		return padded <= left && ends_here(src) ? len : 0;

	struct record next = load_record(src, at + padded);

	return record_magic_is_good(next.data) ? len : 0;
}

/*
 * False when the payload of an EVENT is incomplete or too long. The payload begins with its length.
 */
static bool has_good_payload(const struct src_user *src, const struct record *rec)
{
	size_t left = src->len - src->at - sizeof(*rec);

	if (!record_has_more(rec->data) || record_type(rec->data) != RECORD_EVENT)
		return true;
	if (left < 2)
		return false;

	size_t len = get_u16(src->buf + src->at + sizeof(*rec), src->data->is_big_endian);

	return len <= PAYLOAD_MAX_BYTES - 2 && ALIGN_UP(2 + len, (size_t)8) <= left;
}

/* Take the payload of @rec from @at in the buffer. Returns the payload's length with padding. */
static size_t take_payload(struct src_user *src, const struct record *rec, size_t at,
			   struct event *event)
{
	if (record_type(rec->data) != RECORD_EVENT) {
		size_t len = known_payload(src, rec, at);

		if (len == 0) {
			len = guess_payload(src, rec, at);
			src->has_unknown_payload = true;
			return len;
		}
		event->data = src->buf + at;
		event->data_len = len;
		return ALIGN_UP(len, (size_t)ARGBLOB_TOTAL_ALIGN);
	}

	size_t len = get_u16(src->buf + at, src->data->is_big_endian);
	size_t padded = ALIGN_UP(2 + len, (size_t)8);

	event->data = src->buf + at + 2;
	event->data_len = len;
	return padded;
}

/*
 * Use the records that hold the value of a counter as the payload of @event. @first is the first of
 * these records, and is at @at in the buffer. Returns the number of bytes of the other records.
 */
static size_t take_counter(const struct src_user *src, const struct record *first, size_t at,
			   struct event *event)
{
	struct record last = *first;
	size_t len = sizeof(last);

	while (counter_piece_has_more(last.data) && len < COUNTER_PIECES_MAX * sizeof(last) &&
	       at + len + sizeof(last) <= src->len) {
		last = load_record(src, at + len);
		if (last.time_ns != first->time_ns || record_has_more(last.data) ||
		    record_type(last.data) != RECORD_EVENT ||
		    counter_piece_id(last.data) != counter_piece_id(first->data))
			break;
		len += sizeof(last);
	}
	event->id = counter_piece_id(first->data);
	event->data = src->buf + at;
	event->data_len = len;
	event->depth = event->indent = 0;
	return len - sizeof(last);
}

static bool is_counter(const struct record *rec)
{
	return record_type(rec->data) == RECORD_EVENT && !record_has_more(rec->data) &&
	       event_id_is_counter(counter_piece_id(rec->data));
}

/* Skip a hole in the file. A hole may be terabytes long. */
static void skip_hole(struct src_user *src)
{
	if (src->compact)
		return;

	off_t data = src->fd < 0 ? 0 : lseek(src->fd, src->next_offset, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		data = lseek(src->fd, 0, SEEK_END);
	if (data > 0)
		src->next_offset = MAX(src->next_offset, (uint64_t)data);
}

/*
 * Find out if the rest of the file is zeros. After a crash, a file may end with zeros. Returns 1 if
 * the rest has only zeros, 0 if the rest has other bytes, or a negative errno with @err.
 */
static int rest_is_zero(struct src_user *src, struct uft_err *err)
{
	for (;;) {
		for (; src->at < src->len; src->at++) {
			if (src->buf[src->at])
				return 0;
		}
		skip_hole(src);

		int ret = refill_user(src, err);

		if (ret <= 0)
			return ret < 0 ? ret : 1;
	}
}

/*
 * True when @rec may be the file's last record, cut within its payload: the rest of the file has no
 * room for the longest payload.
 */
static bool is_cut(const struct src_user *src, const struct record *rec)
{
	return src->file_ended && record_magic_is_good(rec->data) &&
	       src->len - src->at < sizeof(*rec) + PAYLOAD_MAX_BYTES;
}

static int bad_record(struct src_user *src, const struct record *rec, struct uft_err *err)
{
	uint64_t offset = src->next_offset - (src->len - src->at);
	char path[PATH_MAX];
	int zeros = rec->time_ns == 0 && rec->data == 0 ? rest_is_zero(src, err) : 0;

	if (zeros < 0)
		return zeros;
	src->at_end = true;
	if (zeros || is_cut(src, rec))
		return 0;
	file_name(src, path);
	return err_set(err, -EBADMSG,
		       "'%s' is damaged at offset %llu: expected a record, found %016llx %016llx",
		       path, (unsigned long long)offset, (unsigned long long)rec->time_ns,
		       (unsigned long long)rec->data);
}

/*
 * Returns a time for a LOST record, because the record itself has no time. The result is the first
 * of these times that is known:
 *
 * - the time of the record before the LOST record
 * - the time of the next record of another type, among the next LOSSES_MAX records
 * - src->after_lost_ns
 *
 * Returns 0 if no time is known.
 */
static uint64_t lost_time(const struct src_user *src)
{
	size_t at = src->at;

	if (src->last_ns)
		return src->last_ns;
	for (unsigned i = 0; i < LOSSES_MAX && src->len - at >= 2 * sizeof(struct record); i++) {
		struct record rec;

		at += sizeof(rec);
		rec = load_record(src, at);
		if (!record_magic_is_good(rec.data))
			break;
		if (record_type(rec.data) != RECORD_LOST)
			return rec.time_ns;
	}
	return src->after_lost_ns;
}

bool src_user_wants_refill(const struct src_user *src)
{
	if (event_data_is_much(&src->beside))
		return true;
	if (src->is_whole)
		return !src->file_ended && src->len - src->at < sizeof(struct record);
	/* The buffer may end within the next record or its payload, although the file goes on. */
	return !src->file_ended &&
	       src->len - src->at < sizeof(struct record) * 2 + PAYLOAD_MAX_BYTES;
}

/* HOT: read calls without payload, up to the first record of another kind. */
static size_t read_plain_calls(struct src_user *src, struct event *events, size_t max, size_t stop,
			       uint64_t until_ns)
{
	struct plain_records records = { src->buf + src->at, src->buf + stop, src->last_ns };
	struct record rec;
	size_t nr = 0;

	if (src->is_swapped)
		return 0;
	for (; nr < max && plain_record_next(&records, &rec) && rec.time_ns <= until_ns; nr++) {
		event_of_record(&rec, records.last_ns, &events[nr]);
		plain_record_took(&records, &rec);
	}
	src_user_plain_put(&records, src);
	return nr;
}

/*
 * Open the block at next_offset, if there is one, to read its records call by call. read_rest() may
 * later decode the rest of the block, so the buffer must have room for all of the block's records.
 */
static bool open_block(struct src_user *src)
{
	if (src->fd < 0 || src->is_swapped || src->full_cap < COMPACT_RAW_MAX ||
	    (src->blocks && src->cap < src->full_cap))
		return false;
	if (!src->cursor)
		src->cursor = compact_cursor_create(&src->data->args, src->data->is_big_endian);
	return src->cursor &&
	       compact_cursor_open(src->cursor, src->compact, src->fd, src->next_offset);
}

struct compact_cursor *src_user_calls(struct src_user *src, size_t *max)
{
	const struct compact_cursor *cursor = src->cursor;

	if (cursor && src->next_offset == cursor->raw_end && cursor->block.in != cursor->block.end)
		note_damaged_block(src, cursor->at);
	if (!src->compact || src->at < src->len || src->at_end ||
	    src->next_offset >= src->end_offset || (!src_user_is_by_calls(src) && !open_block(src)))
		return NULL;

	uint64_t end = MIN(src->end_offset, src->cursor->raw_end);

	*max = MIN(*max, (end - src->next_offset) / sizeof(struct record));
	return *max ? src->cursor : NULL;
}

/*
 * True for an event that a program has declared. The payload of such an event is in the file
 * <tid>.evt, which does not contain the event's record.
 */
static bool is_declared(const struct record *rec)
{
	return record_type(rec->data) == RECORD_EVENT && record_addr(rec->data) >= EVENT_ID_USER;
}

/*
 * Returns the offset in the buffer up to which records can be read. If ends_here() is true, this is
 * the end of the buffer. Otherwise, the rest of the buffer after the offset has room for the
 * longest payload and one more record. So if a record ends at or before the offset, the record's
 * whole payload is in the buffer.
 */
static size_t plain_stop(const struct src_user *src)
{
	const size_t most = PAYLOAD_MAX_BYTES + sizeof(struct record);

	return ends_here(src) ? src->len : src->len - MIN(src->len, most);
}

bool src_user_plain(const struct src_user *src, uint64_t offset, struct plain_records *out)
{
	if (src->is_swapped || src->at_end || !src->buf || src_user_wants_refill(src))
		return false;

	size_t left = plain_stop(src) - src->at;
	uint64_t before = offset - src_user_offset(src);

	if (before < left)
		left = MIN(left, before + sizeof(struct record) - 1);
	*out = (struct plain_records){
		.at = src->buf + src->at,
		.end = src->buf + src->at + left,
		.last_ns = src->last_ns,
	};
	return true;
}

ssize_t src_user_read(struct src_user *src, struct event *events, size_t max, uint64_t until_ns,
		      struct uft_err *err)
{
	size_t nr = 0;

	if (src_user_is_by_calls(src) && compact_block_next_ns(&src->cursor->block) > until_ns)
		return 0;
	/*
	 * Decoded events point into the buffer, and filling the buffer overwrites old bytes. So the
	 * buffer is filled only here, before this function decodes its first event. One refill may
	 * get too few bytes, because a small block can end within a record.
	 */
	while (src_user_wants_refill(src)) {
		int ret = refill_user(src, err);

		if (ret < 0)
			return ret;
		if (ret == 0)
			break;
	}

	const size_t stop = plain_stop(src);

	for (;;) {
		nr += read_plain_calls(src, events + nr, max - nr, stop, until_ns);
		if (nr == max || src->at + sizeof(struct record) > stop)
			break;

		struct record rec = load_record(src, src->at);

		/*
		 * First compare the time with @until_ns, then check the payload. In a growing file,
		 * the payload of a record later than @until_ns may be incomplete. A LOST record has
		 * the time 0, so a second comparison follows the call of lost_time().
		 */
		if (rec.time_ns > until_ns)
			return nr;
		if (!record_magic_is_good(rec.data) || !has_good_payload(src, &rec))
			return nr ? (ssize_t)nr : bad_record(src, &rec, err);
		if (record_type(rec.data) == RECORD_LOST)
			rec.time_ns = lost_time(src);
		if (rec.time_ns > until_ns)
			return nr;

		event_of_record(&rec, src->last_ns, &events[nr]);
		src->last_ns = rec.time_ns;
		src->at += sizeof(rec);
		if (record_has_more(rec.data))
			src->at += take_payload(src, &rec, src->at, &events[nr]);
		else if (is_counter(&rec))
			src->at += take_counter(src, &rec, src->at - sizeof(rec), &events[nr]);
		else if (is_declared(&rec))
			event_data_find(&src->beside, rec.time_ns, record_addr(rec.data),
					&events[nr].data, &events[nr].data_len);
		nr++;
		if (event_data_is_much(&src->beside))
			break;
	}
	if (nr == 0 && src->file_ended && src->at + sizeof(struct record) > stop)
		src->at_end = true;
	return nr;
}
