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
 * The machine that recorded.
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
 * A file of tracefs: its name relative to the mount point, and its contents. Both point into the
 * decoded text.
 */
struct kernel_file {
	struct text name;
	struct text content;
};

/*
 * kernel_header. Starts as { 0 }, ends with kernel_header_deinit(); the text it was read from must
 * outlive it.
 */
struct kernel_header {
	struct kernel_layout layout;
	struct kernel_file *files;
	size_t nr_files;
};

/*
 * Read @text, doc/formats/events.md, "Kernel files". -EBADMSG with the offset and what was expected
 * there, -ENOMEM. A file that is cut off within itself is left out, and all before it is good:
 * *@is_cut tells (the recorder may have been killed).
 */
int kernel_header_decode(struct kernel_header *header, struct text text, bool *is_cut,
			 struct uft_err *err);
void kernel_header_deinit(struct kernel_header *header);
#define cleanup_kernel_header cleanup(kernel_header_deinit)

/* Write it: the beginning, then each file. */
void kernel_header_put_layout(struct strbuf *out, const struct kernel_layout *layout);
void kernel_header_put_file(struct strbuf *out, const char *name, const char *content, size_t len);

/*
 * A tracepoint, of a file "events/<system>/<event>/format".
 *
 * @format: the contents of the file
 * @id: the number that its records begin with
 * @task_offset: in records of the scheduler's events, the place of the task that they are about
 *               (the one that comes next, or is woken), which need not be the task that made them.
 *               0: they have none
 * @graph: a call of the kernel's function, or none
 * @is_tracer: an event that a tracer writes for itself (calls of the kernel's functions), no
 *             tracepoint
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

/* False when @file is something else, or has no number. */
bool kernel_event_type_of(const struct kernel_file *file, struct kernel_event_type *type);

/* Find the field @name in a record, by the format file; false when there is none. */
bool kernel_format_find_field(struct text format, const char *name, uint32_t *offset,
			      uint32_t *size);

/*
 * The size of "commit" by the file events/header_page, which is what LONG_SIZE means; 0 when it
 * does not say.
 */
uint32_t kernel_header_page_long(struct text content);

/* The bytes of a page before its records: a time, and how much there is in the page. */
static inline uint32_t kernel_page_head_bytes(const struct kernel_layout *layout)
{
	return 8 + layout->long_size;
}

/*
 * One page that is being read; the kernel's include/linux/ring_buffer.h.
 *
 * @missed: so many records were lost in front of it; UINT64_MAX: nobody knows how many
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
 * One record; struct trace_entry of the kernel's include/linux/trace_events.h, which the fields
 * follow.
 *
 * @data: the record, laid out as the format file of its event says
 * @start: the place in the page where the kernel's words about it begin
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
 * Begin to read the page at @bytes, of which there are @len: less than a whole one at the end of a
 * file that was cut. -EBADMSG when it cannot be one.
 */
int kernel_page_open(struct kernel_page *page, const struct kernel_layout *layout,
		     const uint8_t *bytes, size_t len, struct uft_err *err);

/*
 * The first word of a record: five bits of type (up to 28: how many words of data follow), the
 * others are the time since the record before.
 */
#define KERNEL_RECORD_DELTA_BITS 27
#define KERNEL_RECORD_WORDS_MAX	 28
/* struct trace_entry, which a record's data begins with. */
#define KERNEL_RECORD_HEAD_BYTES 8

/*
 * HOT: the next record, if it is of the most common kind. False: kernel_page_next() must look at
 * it, and nothing has changed.
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
 * 1 and the next record; 0 at the end; -EBADMSG with the offset in the page when it cannot be a
 * record.
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
 * The call that @rec tells of. False when the record is too short for its fields, or its depth
 * cannot be one.
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
