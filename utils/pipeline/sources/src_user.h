/* Source of events: the records of one <tid>.dat. */
#ifndef UTRAIL_PIPELINE_SRC_USER_H
#define UTRAIL_PIPELINE_SRC_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utils/base/containers/blocks.h"
#include "utils/base/compiler.h"
#include "utils/base/err.h"
#include "utils/format/record.h"
#include "utils/pipeline/sources/compact_cursor.h"
#include "utils/pipeline/kinds/event_data.h"
#include "utils/pipeline/sources/source.h"

/* The longest payload of a record (doc/formats/records.md, "Payloads"). */
#define PAYLOAD_MAX_BYTES   1024
/* Room for a record with its payload, and for the record after it. */
#define SRC_USER_MIN_BUFFER 4096
#define SRC_USER_MAX_BUFFER (128 * 1024)

/*
 * A source of one task. The functions below are for callers that need more than source.h offers,
 * for example the offset of a record in the file, or the report of a damaged block.
 *
 * @place: the session and the address space at the time of the last payload. @place.space is NULL
 *         if they must be looked up
 * @fd: -1 between two reads, unless @keeps_open is true
 * @file_ended: the rest of the file is in the buffer
 * @next_offset: the offset of the next byte to read
 * @end_offset: reading ends at this offset, or at the end of the file if the file is shorter
 * @buf: NULL before the first read; [@at, @len) is not decoded yet
 * @cap: the size of @buf
 * @full_cap: the size of @buf from the second read on
 * @is_damaged: the source ends at the damage, even if the file grows
 * @has_unknown_payload: arguments were skipped for lack of their specification
 * @beside: payloads that are in another file than their records (event_data.h)
 *
 * If the file is compact, @next_offset and @end_offset count the bytes of the decoded records. The
 * following members are for compact files:
 *
 * @compact: the blocks; NULL: the file is not compact
 * @is_whole: the buffer ends where a record ends
 * @cursor: the position in a block that is read call by call; NULL before the first such block
 * @has_lost_block: the records of a damaged block are lost, and this loss is not reported yet
 * @lost_block_at: if @has_lost_block: the file offset of the damaged block
 * @after_lost_ns: the time of the first block after the damaged block whose head has a time; 0: no
 *                 such block was found, or the time is not needed. The LOST record in place of the
 *                 damaged block gets this time if no nearby record has a time
 */
struct src_user {
	struct source source;
	struct trace_data *data;
	struct task_place place;
	unsigned reader;
	int32_t tid;
	int fd;
	bool keeps_open;
	bool is_swapped; /* the byte order is not that of this machine */
	bool file_ended;
	bool is_whole;
	const struct compact_file *compact;
	struct compact_cursor *cursor;
	bool has_lost_block;
	bool at_end;
	bool is_damaged;
	bool has_unknown_payload;
	uint64_t lost_block_at;
	uint64_t after_lost_ns;
	uint64_t next_offset;
	uint64_t end_offset;
	uint64_t last_ns;
	struct blocks *blocks;
	uint8_t *buf;
	size_t cap;
	size_t full_cap;
	size_t at;
	size_t len;
	struct event_data_source beside;
};

/* True when the next read may have to fill the buffer first, which moves payloads. */
bool src_user_wants_refill(const struct src_user *src);

/*
 * True when a block is damaged and its lost records were not reported yet. In this case @err gets
 * the report.
 */
bool src_user_take_damage(struct src_user *src, struct uft_err *err);

_Static_assert((int)RECORD_ENTRY == EVENT_ENTRY && (int)RECORD_EXIT == EVENT_EXIT &&
		       (int)RECORD_LOST == EVENT_LOST && (int)RECORD_EVENT == EVENT_POINT,
	       "types are taken over as they are");

/* True for an ENTRY or EXIT without payload, as most records are. */
static inline bool record_is_plain_call(const struct record *rec)
{
	/*
	 * The mask has these bits:
	 *
	 * - One bit of the type (2). It is 0 in an ENTRY or EXIT, and 1 in other records.
	 * - RECORD_MORE. It is 0 in a record without payload.
	 * - The bits of the magic.
	 */
	const uint64_t mask = 2 | RECORD_MORE | 7ULL << RECORD_MAGIC_SHIFT;

	return (rec->data & mask) == RECORD_MAGIC << RECORD_MAGIC_SHIFT;
}

/*
 * Make an event from @rec. @func, @total_ns and @self_ns are not set. @last_ns: the time of the
 * record before @rec
 */
static inline void event_of_record(const struct record *rec, uint64_t last_ns, struct event *event)
{
	unsigned depth = record_depth(rec->data);

	event->time_ns = rec->time_ns;
	event->addr = record_addr(rec->data);
	event->data = NULL;
	event->data_len = 0;
	event->depth = depth;
	event->indent = depth;
	event->type = record_type(rec->data);
	event->flags = rec->time_ns < last_ns ? EVENT_BACKWARDS : 0;
}

/*
 * HOT: a source's buffer, from which calls without payload are taken one by one. Between
 * src_user_plain() and src_user_plain_put(), the struct is in registers.
 *
 * @at: the next record; a record that ends after @end is not taken
 * @last_ns: the time of the record before @at
 */
struct plain_records {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t last_ns;
};

/*
 * Prepare to take calls whose records begin before @offset in the file. Returns false if
 * src_user_read() must be called instead.
 */
bool src_user_plain(const struct src_user *src, uint64_t offset, struct plain_records *out);

static inline void src_user_plain_put(const struct plain_records *records, struct src_user *src)
{
	src->at = records->at - src->buf;
	src->last_ns = records->last_ns;
}

/*
 * Read the next record, without taking it. Returns false if there is none, if the record is not a
 * call, or if it has a payload.
 */
static inline bool plain_record_next(const struct plain_records *records, struct record *rec)
{
	if (unlikely(records->end - records->at < (ptrdiff_t)sizeof(*rec)))
		return false;
	memcpy(rec, records->at, sizeof(*rec));
	return likely(record_is_plain_call(rec));
}

static inline void plain_record_took(struct plain_records *records, const struct record *rec)
{
	records->at += sizeof(*rec);
	records->last_ns = rec->time_ns;
}

/*
 * Get the cursor of a compact file, to read the next records call by call. The caller reports the
 * records with src_user_took().
 *
 * @max: the maximum number of records; becomes smaller if the cursor's block has fewer records
 *
 * Returns NULL if src_user_read() must be called instead.
 */
struct compact_cursor *src_user_calls(struct src_user *src, size_t *max);
static inline void src_user_took(struct src_user *src, size_t nr, uint64_t last_ns)
{
	src->next_offset += nr * sizeof(struct record) + src->cursor->payload_bytes;
	src->cursor->payload_bytes = 0;
	src->last_ns = last_ns;
}

/* True when the next record is in a block that is read call by call. */
static inline bool src_user_is_by_calls(const struct src_user *src)
{
	return src->cursor && src->at == src->len && src->next_offset < src->cursor->raw_end;
}

/* Returns the time of the record that was read last. */
static inline uint64_t src_user_last_ns(const struct src_user *src)
{
	return src->last_ns;
}

/* Returns the offset of the next record. */
static inline uint64_t src_user_offset(const struct src_user *src)
{
	return src->next_offset - (src->len - src->at);
}

/*
 * Read only from @start to @end. Records must begin at both offsets; @end may be UINT64_MAX. Do not
 * call this function while the source reads a block call by call.
 *
 * @last_ns: the time of the record before @start
 */
void src_user_limit(struct src_user *src, uint64_t start, uint64_t end, uint64_t last_ns);

/*
 * The memory and descriptors that each source gets if there are @nr_tasks tasks. @blocks: the pool
 * of buffers; NULL: malloc(3)
 */
struct src_user_plan {
	size_t buffer_bytes;
	struct blocks *blocks;
	bool keeps_open;
};
struct src_user_plan src_user_plan(size_t nr_tasks);

int src_user_open(struct src_user *src, struct trace_data *data, int32_t tid,
		  const struct src_user_plan *plan, struct uft_err *err);
void src_user_close(struct src_user *src);

/*
 * Take the descriptor away from @src, for another source of the same task. Returns -1 when there is
 * none, or when @src closes it after each read.
 */
int src_user_take_fd(struct src_user *src);

/*
 * To be called at the end (@src->at_end): close the descriptor, and free the memory of the buffer
 * and of all payloads. A buffer from a pool goes back to the pool.
 */
void src_user_release(struct src_user *src);

/*
 * Decode records with their payloads to @events, as event_of_record() does. Reads at most @max
 * records (1 or more), and none later than @until_ns.
 *
 * Returns the number of records, or a negative errno. Returns 0 if the next record is later than
 * @until_ns, or if there is no next record (@src->at_end). Records before a damaged or unreadable
 * position are returned first.
 */
ssize_t src_user_read(struct src_user *src, struct event *events, size_t max, uint64_t until_ns,
		      struct uft_err *err);

#endif
