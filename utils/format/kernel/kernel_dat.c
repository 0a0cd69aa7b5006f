/* Files of the kernel's tracing (see kernel_dat.h). */
#include "utils/format/kernel/kernel_dat.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"
#include "utils/format/bytes.h"
#include "utils/format/kernel/kernel_ring.h"

#define PAGE_BYTES_MIN 4096
/*
 * The maximum of PAGE_SIZE, in bytes. A record may fill its page. With this maximum, the length of
 * each record fits into the 16 bits of event.data_len.
 */
#define PAGE_BYTES_MAX (64U << 10)

/* --- kernel_header --- */

static int bad(const char *start, const struct text *at, const char *expected, struct uft_err *err)
{
	return err_set(err, -EBADMSG, "offset %zu: expected %s", (size_t)(at->at - start),
		       expected);
}

static bool read_number(struct text *in, const char *key, uint64_t *value)
{
	return text_word(in, key) && text_dec(in, value) && text_word(in, "\n");
}

static int read_layout(struct text *in, struct kernel_layout *layout, struct uft_err *err)
{
	const char *start = in->at;
	uint64_t page;
	uint64_t word;

	if (!read_number(in, "PAGE_SIZE: ", &page) || page < PAGE_BYTES_MIN ||
	    page > PAGE_BYTES_MAX || (page & (page - 1)))
		return bad(start, in, "'PAGE_SIZE: ' and a page size", err);
	if (!read_number(in, "LONG_SIZE: ", &word) || (word != 4 && word != 8))
		return bad(start, in, "'LONG_SIZE: ' and 4 or 8", err);
	layout->page_bytes = page;
	layout->long_size = word;
	if (text_word(in, "ENDIAN: LE\n"))
		layout->is_big_endian = false;
	else if (text_word(in, "ENDIAN: BE\n"))
		layout->is_big_endian = true;
	else
		return bad(start, in, "'ENDIAN: LE' or 'ENDIAN: BE'", err);
	return 0;
}

/* Parse "<name>: <len>" after the keyword. Names contain no ':'. */
static bool split_line(struct text line, struct text *name, uint64_t *len)
{
	const char *colon = memchr(line.at, ':', text_left(&line));

	if (!colon || colon == line.at)
		return false;
	*name = (struct text){ line.at, colon };
	line.at = colon;
	return text_word(&line, ": ") && text_dec(&line, len) && line.at == line.end;
}

/* Read the next file. Returns 1 on success, 0 when it is cut off, or a negative errno. */
static int read_file(struct text *in, const char *start, struct kernel_file *file,
		     struct uft_err *err)
{
	struct text line = { 0 };
	uint64_t len;
	bool whole;

	if (!text_word(in, "TRACEFS: ")) {
		static const char key[] = "TRACEFS: ";
		size_t left = text_left(in);

		if (left < sizeof(key) - 1 && memcmp(in->at, key, left) == 0)
			return 0;
		return bad(start, in, "'TRACEFS: '", err);
	}

	struct text at = *in;

	if (!text_line(in, &line, &whole) || !whole)
		return 0;
	if (!split_line(line, &file->name, &len))
		return bad(start, &at, "'<name>: <length>'", err);
	if (len > text_left(in))
		return 0;
	file->content = (struct text){ in->at, in->at + len };
	in->at += len;
	return 1;
}

int kernel_header_decode(struct kernel_header *header, struct text text, bool *is_cut,
			 struct uft_err *err)
{
	const char *start = text.at;

	*header = (struct kernel_header){ 0 };

	int ret = read_layout(&text, &header->layout, err);

	*is_cut = false;
	while (ret == 0 && text_left(&text) && !*is_cut) {
		struct kernel_file *files = vec_grow(header->files, header->nr_files,
						     sizeof(*files));

		if (!files) {
			ret = err_set_errno(err, -ENOMEM, "too many files");
			break;
		}
		header->files = files;
		ret = read_file(&text, start, &files[header->nr_files], err);
		*is_cut = ret == 0;
		header->nr_files += ret > 0;
		ret = MIN(ret, 0);
	}
	if (ret < 0)
		kernel_header_deinit(header);
	return ret;
}

void kernel_header_deinit(struct kernel_header *header)
{
	free(header->files);
	*header = (struct kernel_header){ 0 };
}

void kernel_header_put_layout(struct strbuf *out, const struct kernel_layout *layout)
{
	strbuf_addf(out, "PAGE_SIZE: %u\nLONG_SIZE: %u\nENDIAN: %s\n", layout->page_bytes,
		    layout->long_size, layout->is_big_endian ? "BE" : "LE");
}

void kernel_header_put_file(struct strbuf *out, const char *name, const char *content, size_t len)
{
	strbuf_addf(out, "TRACEFS: %s: %zu\n", name, len);
	strbuf_add(out, content, len);
}

/* Take a name and the '/' after it. Names must be printable, since they are shown unchanged. */
static bool take_part(struct text *path, struct text *part)
{
	const char *at = path->at;

	while (at<path->end && * at> ' ' && *at <= '~' && *at != '/')
		at++;
	if (at == path->end || *at != '/' || at == path->at)
		return false;
	*part = (struct text){ path->at, at };
	path->at = at + 1;
	return true;
}

/* Find "<key><number>;" in @line. */
static bool find_number(struct text line, const char *key, uint32_t *value)
{
	const char *at = memmem(line.at, text_left(&line), key, strlen(key));
	uint64_t number;

	if (!at)
		return false;
	line.at = at + strlen(key);
	if (!text_dec(&line, &number) || !text_word(&line, ";") || number > UINT16_MAX)
		return false;
	*value = number;
	return true;
}

/* True when the line is "<type> <name>;". */
static bool declares(struct text line, const char *name)
{
	const char *end = memchr(line.at, ';', text_left(&line));
	size_t len = strlen(name);

	return end && (size_t)(end - line.at) > len && end[-(ssize_t)len - 1] == ' ' &&
	       memcmp(end - len, name, len) == 0;
}

bool kernel_format_find_field(struct text format, const char *name, uint32_t *offset,
			      uint32_t *size)
{
	struct text line;
	bool whole;

	while (text_line(&format, &line, &whole)) {
		if (text_word(&line, "\tfield:") && declares(line, name))
			return find_number(line, "\toffset:", offset) &&
			       find_number(line, "\tsize:", size);
	}
	return false;
}

static bool find_id(struct text format, uint16_t *id)
{
	struct text line;
	uint64_t number;
	bool whole;

	while (text_line(&format, &line, &whole)) {
		if (!text_word(&line, "ID: "))
			continue;
		if (!text_dec(&line, &number) || number > UINT16_MAX)
			return false;
		*id = number;
		return true;
	}
	return false;
}

static uint32_t find_task(const struct kernel_event_type *type)
{
	static const char *const fields[] = { "next_pid", "pid" };
	uint32_t offset;
	uint32_t size;

	if (!text_is(type->system, "sched"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (kernel_format_find_field(type->format, fields[i], &offset, &size) && size == 4)
			return offset;
	}
	return 0;
}

bool kernel_event_type_of(const struct kernel_file *file, struct kernel_event_type *type)
{
	struct text path = file->name;

	if (!text_word(&path, "events/") || !take_part(&path, &type->system) ||
	    !take_part(&path, &type->event) || !text_word(&path, "format") || text_left(&path) ||
	    !find_id(file->content, &type->id))
		return false;
	type->format = file->content;
	type->task_offset = find_task(type);
	type->graph = (struct kernel_graph){ 0 };
	type->is_tracer = text_is(type->system, "ftrace");
	if (type->is_tracer)
		kernel_graph_of(type->event, type->format, &type->graph);
	return true;
}

uint32_t kernel_header_page_long(struct text content)
{
	uint32_t offset;
	uint32_t size;

	if (!kernel_format_find_field(content, "commit", &offset, &size))
		return 0;
	return size == 4 || size == 8 ? size : 0;
}

/* --- pages --- */

#define STAMP_BITS	  59
/* The delta that the kernel gives to a discarded record whose delta was 0. */
#define WITHDRAWN_NO_TIME 1

static uint64_t get_long(const uint8_t *at, uint32_t size, bool big)
{
	return size == 8 ? get_u64(at, big) : get_u32(at, big);
}

static uint64_t find_missed(uint64_t commit, const struct kernel_layout *layout, const uint8_t *end,
			    size_t room)
{
	if (!(commit & COMMIT_MISSED))
		return 0;
	if (!(commit & COMMIT_MISSED_STORED) || room < layout->long_size)
		return UINT64_MAX;
	return get_long(end, layout->long_size, layout->is_big_endian);
}

int kernel_page_open(struct kernel_page *page, const struct kernel_layout *layout,
		     const uint8_t *bytes, size_t len, struct uft_err *err)
{
	size_t head = kernel_page_head_bytes(layout);
	bool big = layout->is_big_endian;

	len = MIN(len, (size_t)layout->page_bytes);
	*page = (struct kernel_page){ .start = bytes, .is_big_endian = big };
	if (len < head) {
		page->at = page->end = bytes + len;
		return 0;
	}

	uint64_t commit = get_long(bytes + 8, layout->long_size, big);
	uint64_t filled = commit & COMMIT_MASK;

	if (filled > layout->page_bytes - head)
		return err_set(err, -EBADMSG, "a page with %llu bytes of records",
			       (unsigned long long)filled);
	page->time_ns = get_u64(bytes, big);
	page->at = bytes + head;
	page->end = page->at + MIN(filled, len - head);
	page->missed = find_missed(commit, layout, page->end, bytes + len - page->end);
	return 0;
}

static int bad_record(const struct kernel_page *page, const char *what, struct uft_err *err)
{
	return err_set(err, -EBADMSG, "a record %s at %zu of the page", what,
		       (size_t)(page->at - page->start));
}

/*
 * Complete an absolute time, of which the kernel keeps 59 bits, with the upper bits of the previous
 * time.
 */
static uint64_t whole_stamp(uint64_t stamp, uint64_t before_ns)
{
	uint64_t high = before_ns & ~((1ULL << STAMP_BITS) - 1);

	if (!high)
		return stamp;
	stamp |= high;
	return stamp < before_ns ? stamp + (1ULL << STAMP_BITS) : stamp;
}

/*
 * Handle a record that is not an event: a change of the page's time, or padding. Padding is
 * skipped. The delta of padding is added to the page's time, unless the delta is WITHDRAWN_NO_TIME.
 */
static int skip_no_event(struct kernel_page *page, unsigned kind, uint32_t delta,
			 struct uft_err *err)
{
	size_t left = page->end - page->at;

	/* After padding without a delta, the rest of the page is empty. */
	if (kind == KIND_PADDING && delta == 0) {
		page->at = page->end;
		return 0;
	}
	if (left < 2 * WORD)
		return bad_record(page, "is cut off", err);

	uint32_t word = get_u32(page->at + WORD, page->is_big_endian);
	uint64_t time = ((uint64_t)word << KERNEL_RECORD_DELTA_BITS) + delta;
	size_t used = 2 * WORD;

	if (kind == KIND_TIME_EXTEND) {
		page->time_ns += time;
	} else if (kind == KIND_TIME_STAMP) {
		page->time_ns = whole_stamp(time, page->time_ns);
	} else {
		if (word < WORD || word > left - WORD)
			return bad_record(page, "is too long", err);
		page->time_ns += delta == WITHDRAWN_NO_TIME ? 0 : delta;
		used = WORD + ALIGN_UP((size_t)word, (size_t)WORD);
	}
	page->at += MIN(used, left);
	return 0;
}

/*
 * Read the record at page->at: @head bytes, and then @len bytes of data. Returns 1 or -EBADMSG.
 */
static int take_kernel_record(struct kernel_page *page, size_t head, size_t len,
			      struct kernel_record *rec, struct uft_err *err)
{
	size_t left = page->end - page->at;
	bool big = page->is_big_endian;

	if (left < head || len > left - head)
		return bad_record(page, "is too long", err);
	if (len < KERNEL_RECORD_HEAD_BYTES)
		return bad_record(page, "is too short", err);

	const uint8_t *data = page->at + head;

	*rec = (struct kernel_record){
		.time_ns = page->time_ns,
		.data = data,
		.start = page->at,
		.len = len,
		.id = get_u16(data, big),
		.pid = get_u32(data + 4, big),
	};
	page->at += MIN(head + ALIGN_UP(len, (size_t)WORD), left);
	return 1;
}

int kernel_page_next(struct kernel_page *page, struct kernel_record *rec, struct uft_err *err)
{
	while (page->end - page->at >= WORD) {
		uint32_t word = get_u32(page->at, page->is_big_endian);
		/* The byte order determines at which end of the word the kind is. */
		unsigned kind = page->is_big_endian ? word >> KERNEL_RECORD_DELTA_BITS : word & 31;
		uint32_t delta = page->is_big_endian ? word & ((1U << KERNEL_RECORD_DELTA_BITS) - 1)
						     : word >> 5;

		if (kind >= KIND_PADDING) {
			int ret = skip_no_event(page, kind, delta, err);

			if (ret < 0)
				return ret;
			continue;
		}
		page->time_ns += delta;
		if (kind != KIND_LONG)
			return take_kernel_record(page, WORD, kind * WORD, rec, err);
		if (page->end - page->at < 2 * WORD)
			return bad_record(page, "is cut off", err);

		/* The second word is the length, in bytes, of this word and the data together. */
		uint32_t len = get_u32(page->at + WORD, page->is_big_endian);

		if (len < WORD)
			return bad_record(page, "is too short", err);
		return take_kernel_record(page, 2 * WORD, len - WORD, rec, err);
	}
	return 0;
}
