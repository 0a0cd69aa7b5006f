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
 * The recorded machine.
 *
 * @page_bytes: of one page of kernel-cpu<N>.dat
 * @long_size: 4 or 8: of a page's second word
 */
struct kernel_layout {
	uint32_t page_bytes;
	uint32_t long_size;
	bool is_big_endian;
};

/*
 * A file of tracefs: its name relative to the mount point, and its content. Both point into the
 * decoded text.
 */
struct kernel_file {
	struct text name;
	struct text content;
};

/*
 * kernel_header. Starts as { 0 }, ends with kernel_header_deinit(); the text that it was read from
 * must outlive it.
 */
struct kernel_header {
	struct kernel_layout layout;
	struct kernel_file *files;
	size_t nr_files;
};

/*
 * Read @text, doc/formats/events.md, "Kernel files". -EBADMSG with the offset and the expected
 * value, -ENOMEM. A truncated file is left out, and everything before it is valid: *@is_cut is set
 * (the recorder may have been killed).
 */
int kernel_header_decode(struct kernel_header *header, struct text text, bool *is_cut,
			 struct uft_err *err);
void kernel_header_deinit(struct kernel_header *header);
#define cleanup_kernel_header cleanup(kernel_header_deinit)

/* Write the header: the beginning, then each file. */
void kernel_header_put_layout(struct strbuf *out, const struct kernel_layout *layout);
void kernel_header_put_file(struct strbuf *out, const char *name, const char *content, size_t len);

/*
 * A tracepoint, of a file "events/<system>/<event>/format".
 *
 * @format: the content of the file
 * @id: the number that its records begin with
 * @task_offset: in records of the scheduler's events, the offset of the task that they concern
 *               (the next one, or the woken one), which may differ from the task that made them.
 *               0: there is none
 * @graph: layout of a kernel function's call, or none
 * @is_tracer: an event of a tracer (calls of the kernel's functions), no tracepoint
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

/* Parse @file. False when it is something else, or has no number. */
bool kernel_event_type_of(const struct kernel_file *file, struct kernel_event_type *type);

/* Find the field @name in a record, by the format file; false when there is none. */
bool kernel_format_find_field(struct text format, const char *name, uint32_t *offset,
			      uint32_t *size);

/*
 * The size of "commit" according to the file events/header_page, which is LONG_SIZE; 0 when the
 * file has none.
 */
uint32_t kernel_header_page_long(struct text content);

/* The bytes of a page before its records: a time, and the length of the data. */
static inline uint32_t kernel_page_head_bytes(const struct kernel_layout *layout)
{
	return 8 + layout->long_size;
}

/*
 * One page being read; the kernel's include/linux/ring_buffer.h.
 *
 * @missed: records lost before it; UINT64_MAX: their number is unknown
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
 * One record; struct trace_entry of the kernel's include/linux/trace_events.h, followed by the
 * fields.
 *
 * @data: the record, in the layout of its event's format file
 * @start: the offset in the page of the kernel's header words for it
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
 * Open the page at @bytes, of @len bytes: fewer than a page at the end of a truncated file.
 * -EBADMSG when it is invalid.
 */
int kernel_page_open(struct kernel_page *page, const struct kernel_layout *layout,
		     const uint8_t *bytes, size_t len, struct uft_err *err);

/*
 * The first word of a record: five bits of type (up to 28: the number of data words), the others
 * are the time since the record before.
 */
#define KERNEL_RECORD_DELTA_BITS 27
#define KERNEL_RECORD_WORDS_MAX	 28
/* struct trace_entry, at the beginning of a record's data. */
#define KERNEL_RECORD_HEAD_BYTES 8

/*
 * HOT: read the next record, if it is of the most common kind. False: call kernel_page_next();
 * nothing has changed.
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
 * 1 and the next record; 0 at the end; -EBADMSG with the offset in the page of an invalid record.
 */
int kernel_page_next(struct kernel_page *page, struct kernel_record *rec, struct uft_err *err);

/* Both fields are there, and of the most common size. */
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

/*
 * Decode the call in @rec. False when the record is too short for its fields, or its depth is
 * invalid.
 */
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
	/* As the kernel itself would have it in 64 bits. */
	if (graph->func.size == 4)
		addr |= 0xffffffffULL << 32;
	call->addr = addr | KERNEL_ADDR_BIT;
	call->depth = depth;
	return true;
}

#endif
