/* Payloads of events of one task: the entries of <tid>.evt (utils/format/event_data.h). */
#ifndef UTRAIL_PIPELINE_EVENT_DATA_H
#define UTRAIL_PIPELINE_EVENT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the file <tid>.evt. This file has the payloads of one task's EVENT records, in the order of
 * the records. The file is optional and untrusted. The caller sets the members up to @buffer_bytes.
 * event_data_release() frees the memory of the other members.
 *
 * @dir, @tid: the recording and the task of the file
 * @is_swapped: the file's byte order is not that of this machine
 * @may_be: the file may exist
 * @grows: the file is still being written
 * @buffer_bytes: the usual size of @buf in bytes. If an entry needs more bytes, @buf is larger
 * @next_offset: the position in the file at which the next read begins
 * @buf: [@at, @len) is unread
 * @is_lent: events point into @buf
 * @lent: older buffers that events point into, @lent_bytes in total
 */
struct event_data_source {
	const char *dir;
	int32_t tid;
	bool is_swapped;
	bool may_be;
	bool grows;
	size_t buffer_bytes;
	uint64_t next_offset;
	uint8_t *buf;
	size_t at;
	size_t len;
	bool is_lent;
	struct lent_buffer *lent;
	size_t lent_bytes;
};

/*
 * Find the entry of the event with this time and id, and skip earlier entries. *@data is valid
 * until event_data_return(). Returns false if memory is short, or if the entry is not among the
 * first 16 entries of this time.
 */
bool event_data_find(struct event_data_source *src, uint64_t time_ns, uint64_t id,
		     const uint8_t **data, uint16_t *len);

/* True when events point to so much memory that event_data_return() should be called soon. */
static inline bool event_data_is_much(const struct event_data_source *src)
{
	return src->lent_bytes > 1 << 20;
}

/* Take back the memory of all payloads. Call this when no event points to the memory any more. */
void event_data_return(struct event_data_source *src);

/*
 * Free the buffer and the memory of all payloads. Call this when no event points to the memory any
 * more. The next event_data_find() continues at the same entry as without this call.
 */
void event_data_release(struct event_data_source *src);

#endif
