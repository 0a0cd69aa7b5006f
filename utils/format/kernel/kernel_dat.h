/* Files of the kernel's tracing: kernel_header, and the pages of kernel-cpu<N>.dat. */
#ifndef UTRAIL_FORMAT_KERNEL_DAT_H
#define UTRAIL_FORMAT_KERNEL_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/bytes.h"
#include "utils/format/kernel/kernel_graph.h"
#include "utils/format/text.h"

/*
 * Facts about the recorded machine.
 *
 * @page_bytes: the size of a page of kernel-cpu<N>.dat
 * @long_size: the size of the second word of a page: 4 or 8
 */
struct kernel_layout {
	uint32_t page_bytes;
	uint32_t long_size;
	bool is_big_endian;
};

/*
 * A file of tracefs. @name: relative to the mount point. Both members point into the text that
 * kernel_header_decode() was given.
 */
struct kernel_file {
	struct text name;
	struct text content;
};

/*
 * The content of the file kernel_header. The struct starts as { 0 }, and ends with
 * kernel_header_deinit(). The struct points into the text that was decoded, so the text must
 * outlive the struct.
 */
struct kernel_header {
	struct kernel_layout layout;
	struct kernel_file *files;
	size_t nr_files;
};

/*
 * Read the text of the file kernel_header. The text has copies of tracefs files
 * (doc/formats/events.md, "Kernel files").
 *
 * @is_cut: becomes true if the text ends in the middle of a copy, for example because the recorder
 *          was killed. All copies before the incomplete copy are valid
 *
 * Returns 0, -EBADMSG with the offset and the expected value in @err, or -ENOMEM.
 */
int kernel_header_decode(struct kernel_header *header, struct text text, bool *is_cut,
			 struct uft_err *err);
void kernel_header_deinit(struct kernel_header *header);
#define cleanup_kernel_header cleanup(kernel_header_deinit)

/*
 * Make the text of the file kernel_header: call kernel_header_put_layout() once, and then
 * kernel_header_put_file() for each tracefs file.
 */
void kernel_header_put_layout(struct strbuf *out, const struct kernel_layout *layout);
void kernel_header_put_file(struct strbuf *out, const char *name, const char *content, size_t len);

/*
 * A kind of event, mostly a tracepoint, from a file "events/<system>/<event>/format".
 *
 * @format: the content of the file
 * @id: the number of this kind of event. The data of each record of this kind begins with @id
 * @task_offset: the offset of the field "next_pid" or "pid" in a record of a scheduler event. This
 *               field has the id of the task that the event is about. 0: there is no such field
 * @graph: the layout of a call of a kernel function. If the event is not such a call, graph.kind is
 *         KERNEL_GRAPH_NONE
 * @is_tracer: the event is not a tracepoint. One of the kernel's tracers writes the event, for
 *             example at each call of a kernel function
 */
struct kernel_event_type {
	struct text system;
	struct text event;
	struct text format;
	uint16_t id;
	uint32_t task_offset;
	struct kernel_graph graph;
	bool is_tracer;
};

/*
 * Find the kind of event that @file describes. Returns false when @file is not the format file of
 * an event, or does not contain the event's id.
 */
bool kernel_event_type_of(const struct kernel_file *file, struct kernel_event_type *type);

/*
 * Find the offset and size, in bytes, of the field @name. @format: the content of a tracefs file
 * that describes the fields of a record or of a page. Returns false if there is no such field.
 */
bool kernel_format_find_field(struct text format, const char *name, uint32_t *offset,
			      uint32_t *size);

/*
 * Returns kernel_layout.long_size. @content: the content of the file events/header_page. Returns 0
 * if @content does not contain a valid size.
 */
uint32_t kernel_header_page_long(struct text content);

/* Returns the number of bytes in a page before its records. */
static inline uint32_t kernel_page_head_bytes(const struct kernel_layout *layout)
{
	return 8 + layout->long_size;
}

/*
 * A page that is being read (the kernel's include/linux/ring_buffer.h).
 *
 * @missed: the number of records that were lost before the page; UINT64_MAX: unknown
 */
struct kernel_page {
	const uint8_t *start;
	const uint8_t *at;
	const uint8_t *end;
	uint64_t time_ns;
	uint64_t missed;
	bool is_big_endian;
};

/*
 * One record.
 *
 * @data: struct trace_entry (include/linux/trace_events.h), and then the fields of the event
 * @start: the record in the page: one or two 32-bit words with the type, time and length of the
 *         record, followed by @data
 */
struct kernel_record {
	uint64_t time_ns;
	const uint8_t *data;
	const uint8_t *start;
	uint32_t len;
	int32_t pid;
	uint16_t id;
};

/*
 * Open the page at @bytes. At the end of a truncated file, @len is less than a page. Returns 0, or
 * -EBADMSG when the page is invalid.
 */
int kernel_page_open(struct kernel_page *page, const struct kernel_layout *layout,
		     const uint8_t *bytes, size_t len, struct uft_err *err);

/*
 * Five bits of a record's first 32-bit word are the record's type. A type from 1 to 28 belongs to a
 * short event: the type is the length of the event's data in 32-bit words. For the other types see
 * enum record_kind. In the record of an event, the word's other 27 bits are the time since the
 * previous record.
 */
#define KERNEL_RECORD_DELTA_BITS 27
#define KERNEL_RECORD_WORDS_MAX	 28
/* The size of struct trace_entry, with which a record's data begin. */
#define KERNEL_RECORD_HEAD_BYTES 8

/*
 * HOT: read the next record, if the record is a short event and the page is little-endian. Most
 * records are short events. Returns false, with @page unchanged, if the caller must call
 * kernel_page_next().
 */
static inline bool kernel_page_next_plain(struct kernel_page *page, struct kernel_record *rec)
{
	const uint8_t *at = page->at;
	size_t left = page->end - at;

	if (page->is_big_endian || left < 4 + KERNEL_RECORD_HEAD_BYTES)
		return false;

	uint32_t word = get_u32(at, false);
	uint32_t len = (word & 31) * 4;

	if (len < KERNEL_RECORD_HEAD_BYTES || len > KERNEL_RECORD_WORDS_MAX * 4 || len > left - 4)
		return false;
	page->time_ns += word >> 5;
	page->at = at + 4 + len;
	rec->time_ns = page->time_ns;
	rec->data = at + 4;
	rec->start = at;
	rec->len = len;
	rec->id = get_u16(at + 4, false);
	rec->pid = get_u32(at + 8, false);
	return true;
}

/*
 * Read the next record. Returns 1 on success, 0 at the end, or -EBADMSG with the offset of an
 * invalid record in @err.
 */
int kernel_page_next(struct kernel_page *page, struct kernel_record *rec, struct uft_err *err);

/* True when the record has the address of a call in 64 bits, and the depth in 32 bits. */
static inline bool kernel_graph_is_plain(const struct kernel_graph *graph,
					 const struct kernel_record *rec)
{
	return graph->plain_bytes && rec->len >= graph->plain_bytes;
}

static inline bool kernel_field_get(const struct kernel_record *rec, struct kernel_field field,
				    bool big, uint64_t *value)
{
	if (field.offset > rec->len || field.size > rec->len - field.offset)
		return false;
	*value = field.size == 8 ? get_u64(rec->data + field.offset, big)
				 : get_u32(rec->data + field.offset, big);
	return true;
}

/* Decode the call in @rec. Returns false if the record is too short, or if the depth is invalid. */
static inline bool kernel_graph_get(const struct kernel_graph *graph,
				    const struct kernel_record *rec, bool big,
				    struct kernel_call *call)
{
	uint64_t depth = KERNEL_DEPTH_UNKNOWN;
	uint64_t addr;

	if (!kernel_field_get(rec, graph->func, big, &addr))
		return false;
	if (graph->depth.size &&
	    (!kernel_field_get(rec, graph->depth, big, &depth) || depth >= KERNEL_DEPTH_UNKNOWN))
		return false;
	/* Fill the upper half of a 32-bit address with ones, as in kernel addresses of x86_64. */
	if (graph->func.size == 4)
		addr |= 0xffffffffULL << 32;
	call->addr = addr | KERNEL_ADDR_BIT;
	call->depth = depth;
	return true;
}

#endif
