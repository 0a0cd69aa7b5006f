/* Tracepoints and calls of the kernel: their tasks, losses, and damaged pages. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/read/kernel_page.h"
#include "tests/unit/lib/read/sources.h"
#include "utils/pipeline/merger.h"
#include "utils/pipeline/sources/src_kernel.h"

#define ALL UINT64_MAX

enum {
	PLAIN = 7,
	SWITCH = 8,
	ENTRY = 11,
	EXIT = 12,
	TRACER = 13
};

#define FIELD(name, offset, size) \
	"\tfield:x " name ";\toffset:" offset ";\tsize:" size ";\tsigned:0;\n"

static void put_type(struct strbuf *header, const char *name, unsigned id, const char *fields)
{
	struct strbuf format cleanup_strbuf = { 0 };

	strbuf_addf(&format, "name: x\nID: %u\nformat:\n%s\nprint fmt: \"\"\n", id, fields);
	kernel_header_put_file(header, name, format.data, format.len);
}

/*
 * Begin a recording that has the types PLAIN and SWITCH. The second word of SWITCH is the task that
 * runs next. @graph: also the types ENTRY, EXIT and TRACER
 */
static void begin(struct sources *s, bool graph)
{
	struct strbuf header cleanup_strbuf = { 0 };
	struct kernel_layout layout = { KERNEL_PAGE_BYTES, 8, false };

	sources_begin(s);
	kernel_header_put_layout(&header, &layout);
	put_type(&header, "events/x/plain/format", PLAIN, "");
	put_type(&header, "events/sched/sched_switch/format", SWITCH, FIELD("next_pid", "12", "4"));
	if (graph) {
		put_type(&header, "events/ftrace/funcgraph_entry/format", ENTRY,
			 FIELD("func", "8", "8") FIELD("depth", "16", "4"));
		put_type(&header, "events/ftrace/funcgraph_exit/format", EXIT,
			 FIELD("func", "8", "8") FIELD("depth", "16", "4"));
		put_type(&header, "events/ftrace/other/format", TRACER, "");
	}
	recording_add_file(&s->rec, "kernel_header", header.data, header.len);
}

static void call(struct kernel_page_maker *page, uint32_t delta, uint16_t id, int32_t pid,
		 uint32_t addr, uint32_t depth)
{
	const uint32_t words[] = { addr, 0xffffffff, depth };

	kernel_page_record(page, delta, id, pid, words, 3);
}

static void put_page(struct strbuf *out, struct kernel_page_maker *page, uint32_t commit)
{
	kernel_page_end(page, commit);
	strbuf_add(out, page->bytes, sizeof(page->bytes));
}

static struct source *open_pages(struct sources *s, const struct strbuf *bytes)
{
	recording_add_file(&s->rec, "kernel-cpu4.dat", bytes->data, bytes->len);
	assert_int_equal(sources_open(s, &src_kernel_kind, NULL), 1);
	return s->list.all[0];
}

TEST(without_a_header_there_are_no_sources)
{
	struct sources s;

	sources_begin(&s);
	recording_add_file(&s.rec, "kernel-cpu0.dat", "", 0);
	assert_int_equal(sources_open(&s, &src_kernel_kind, NULL), 0);
	assert_false(s.losses.has_files);
	assert_string_equal(src_kernel_kind.name, "kernel");
	sources_end(&s);
}

/* Views that add up times use calls only. */
TEST(whether_files_are_read)
{
	for (unsigned i = 0; i < 8; i++) {
		bool graph = i & 1;
		bool points = i & 2;
		bool notes = i & 4;
		struct sources s;

		begin(&s, graph);
		recording_add_file(&s.rec, "kernel-cpu0.dat", "", 0);
		recording_add_file(&s.rec, "kernel-cpu1.dat", "", 0);
		s.context.wants_points = points;
		s.context.takes_notes = notes;
		assert_int_equal(sources_open(&s, &src_kernel_kind, NULL), graph || points ? 2 : 0);
		assert_int_equal(s.losses.has_files, (graph || points) && notes);
		sources_end(&s);
	}
}

TEST(tracepoints_belong_to_who_made_them_or_whom_they_are_about)
{
	static const uint32_t about_100[] = { 100 };
	static const uint32_t about_333[] = { 333 };
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct kernel_record rec = { 0 };
	struct event event;
	struct source *src;
	struct sources s;

	begin(&s, false);
	kernel_page_begin(&page, 1000, 8, false);
	kernel_page_record(&page, 5, PLAIN, 100, NULL, 0);
	kernel_page_record(&page, 10, SWITCH, 555, about_100, 1);
	kernel_page_record(&page, 10, SWITCH, 555, about_333, 1);
	kernel_page_record(&page, 10, SWITCH, 100, about_333, 1);
	kernel_page_record(&page, 10, SWITCH, 0, about_100, 1);
	kernel_page_record(&page, 10, SWITCH, 555, NULL, 0);
	kernel_page_record(&page, 10, PLAIN, 0, NULL, 0);
	kernel_page_record(&page, 10, 99, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	src = open_pages(&s, &bytes);
	sources_check(src, 9, 1004, "");
	sources_check(src, 9, 1015, "100/0: *@1005.0; 555/0!: *@1015.0");
	assert_int_equal(source_read(src, &event, 1, ALL, NULL), 1);
	assert_int_equal(event.type, EVENT_POINT);
	assert_int_equal(event.id, SWITCH);
	assert_int_equal(event.data_len, 12);
	assert_int_equal(get_u32(event.data + 8, false), 333);
	assert_int_equal(get_u32(event.data + 4, false), 555);
	sources_check(src, 9, ALL, "100/0: *@1035.0; 555/0!: *@1055.0; 100/0: *@1075.0");
	/* src_kernel_task() finds the same task for a record. */
	rec.pid = 100;
	rec.id = PLAIN;
	assert_ptr_equal(src_kernel_task(&s.data, &rec), data_task(&s.data, 100));
	rec.pid = 101;
	assert_null(src_kernel_task(&s.data, &rec));
	sources_end(&s);
}

TEST(calls_of_the_kernel)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct sources s;

	begin(&s, true);
	kernel_page_begin(&page, 1000, 8, false);
	call(&page, 0, ENTRY, 100, 0x10, 0);
	call(&page, 10, ENTRY, 100, 0x20, 1);
	call(&page, 10, EXIT, 100, 0x20, 1);
	kernel_page_record(&page, 0, TRACER, 100, NULL, 0);
	call(&page, 10, ENTRY, 555, 0x10, 0);
	call(&page, 10, EXIT, 100, 0x10, 0);
	/* A call record that is cut is not a call. */
	kernel_page_record(&page, 10, ENTRY, 100, NULL, 0);
	call(&page, 10, EXIT, 0, 0x10, 0);
	put_page(&bytes, &page, 0);
	s.context.wants_points = false;
	sources_check(
		open_pages(&s, &bytes), 9, ALL,
		"100/0: -{@1000.0 -{@1010.1:0 -}@1020.1:0; 555/0!: -{@1030.0; 100/0: -}@1040.0");
	sources_end(&s);
}

TEST(points_are_left_out_when_nobody_wants_them)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct sources s;

	begin(&s, true);
	kernel_page_begin(&page, 1000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	call(&page, 10, ENTRY, 100, 0x10, 0);
	kernel_page_record(&page, 10, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	s.context.wants_points = false;
	sources_check(open_pages(&s, &bytes), 9, ALL, "100/0: -{@1010.0");
	sources_close(&s);
	s.context.wants_points = true;
	assert_int_equal(sources_open(&s, &src_kernel_kind, NULL), 1);
	sources_check(s.list.all[0], 9, ALL, "100/0: *@1000.0 -{@1010.0 *@1020.0");
	sources_end(&s);
}

/* The fast path: all calls of a task in a row, up to a record of another kind. */
TEST(many_calls_at_a_time)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct queued calls[20];
	struct source *src;
	struct sources s;

	begin(&s, true);
	kernel_page_begin(&page, 1000, 8, false);
	for (unsigned i = 0; i < 6; i++)
		call(&page, 10, i % 2 ? EXIT : ENTRY, 100, 0x10 + i / 2, i);
	call(&page, 10, ENTRY, 555, 0x50, 0);
	call(&page, 10, ENTRY, 100, 0x60, UINT16_MAX - 1);
	call(&page, 10, ENTRY, 100, 0x61, UINT16_MAX);
	call(&page, 10, ENTRY, 100, 0x62, UINT16_MAX + 1);
	kernel_page_record(&page, 10, PLAIN, 100, NULL, 0);
	call(&page, 10, ENTRY, 100, 0x70, 2);
	put_page(&bytes, &page, 0);
	kernel_page_begin(&page, 2000, 8, false);
	call(&page, 10, EXIT, 100, 0x70, 2);
	put_page(&bytes, &page, 0);
	src = open_pages(&s, &bytes);
	assert_int_equal(src->ops->read_calls(src, calls, 20, 1009), 0);
	assert_null(src->task);
	assert_int_equal(src->ops->read_calls(src, calls, 20, 1029), 2);
	assert_ptr_equal(src->task, data_task(&s.data, 100));
	assert_int_equal(src->tid, 100);
	assert_int_equal(src->other_tid, 0);
	assert_int_equal(src->ops->read_calls(src, calls + 2, 3, ALL), 3);
	assert_int_equal(src->ops->read_calls(src, calls + 5, 9, ALL), 1);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(calls[i].time_ns, 1010 + 10 * i);
		assert_int_equal(calls[i].addr, 0xffffffff00000010 + i / 2);
		assert_int_equal(calls[i].depth, i);
		assert_int_equal(calls[i].type, i % 2 ? EVENT_EXIT : EVENT_ENTRY);
		assert_int_equal(calls[i].flags, 0);
		assert_int_equal(calls[i].source, 0);
	}
	assert_int_equal(src->ops->read_calls(src, calls, 9, ALL), 1);
	assert_int_equal(src->tid, 555);
	assert_null(src->task);
	/* No stack is as deep as this: such records are not calls. */
	assert_int_equal(src->ops->read_calls(src, calls, 9, ALL), 1);
	assert_int_equal(calls[0].depth, UINT16_MAX - 1);
	/* read_calls() leaves events to read(). */
	assert_int_equal(src->ops->read_calls(src, calls, 9, ALL), 0);
	sources_check(src, 1, 1110, "100/0: *@1110.0");
	assert_int_equal(src->ops->read_calls(src, calls, 9, ALL), 2);
	assert_int_equal(calls[1].time_ns, 2010);
	assert_int_equal(src->ops->read_calls(src, calls, 9, ALL), 0);
	sources_end(&s);
}

/*
 * The upper bits of COMMIT: records were lost before the page, and their number is after its data.
 */
TEST(lost_records)
{
	static const uint32_t missed_bit = 1U << 31;
	static const uint32_t stored_bit = 1U << 30;
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct source *src;
	struct sources s;

	begin(&s, false);
	kernel_page_begin(&page, 1000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	/* This page has the number of lost records. */
	kernel_page_begin(&page, 2000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	kernel_page_end(&page, missed_bit | stored_bit);
	put_u64(page.bytes + page.used, 5, false);
	strbuf_add(&bytes, page.bytes, sizeof(page.bytes));
	/* This page tells only that records were lost. */
	kernel_page_begin(&page, 3000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, missed_bit);
	src = open_pages(&s, &bytes);
	sources_check(
		src, 9, ALL,
		"100/0: *@1000.0; 100/0: !@2000.0U *@2000.0 *@2000.0; 100/0: !@3000.0U *@3000.0");
	assert_int_equal(s.losses.lost, 5);
	assert_true(s.losses.has_more_lost);
	sources_close(&s);
	/* When the file is read again the loss is shown, but not counted once more. */
	s.context.takes_notes = false;
	assert_int_equal(sources_open(&s, &src_kernel_kind, NULL), 1);
	sources_check(s.list.all[0], 1, ALL,
		      "100/0: *@1000.0; 100/0: !@2000.0U; 100/0: *@2000.0; 100/0: *@2000.0; 100/0: "
		      "!@3000.0U; 100/0: *@3000.0");
	assert_int_equal(s.losses.lost, 5);
	sources_end(&s);
}

/* While no page has an event of a known task, the losses before the pages are added up. */
TEST(losses_add_up_until_somebody_is_told)
{
	static const uint32_t bits = 3U << 30;
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct event event;
	struct source *src;
	struct sources s;

	begin(&s, false);
	for (unsigned i = 0; i < 3; i++) {
		kernel_page_begin(&page, 1000 + i, 8, false);
		kernel_page_record(&page, 0, PLAIN, i < 2 ? 0 : 100, NULL, 0);
		kernel_page_end(&page, bits);
		put_u64(page.bytes + page.used, 3 + i, false);
		strbuf_add(&bytes, page.bytes, sizeof(page.bytes));
	}
	/* If one number is unknown, so is the sum, until it is reported. */
	for (unsigned i = 0; i < 3; i++) {
		kernel_page_begin(&page, 2000 + i, 8, false);
		kernel_page_record(&page, 0, PLAIN, i < 2 ? 0 : 100, NULL, 0);
		kernel_page_end(&page, i ? bits : 1U << 31);
		put_u64(page.bytes + page.used, 3 + i, false);
		strbuf_add(&bytes, page.bytes, sizeof(page.bytes));
	}
	src = open_pages(&s, &bytes);
	assert_int_equal(source_read(src, &event, 1, 1001, NULL), 0);
	assert_int_equal(source_read(src, &event, 1, ALL, NULL), 1);
	assert_int_equal(event.type, EVENT_LOST);
	assert_int_equal(event.flags, EVENT_KERNEL_LOST);
	assert_int_equal(event.addr, 12);
	assert_int_equal(event.time_ns, 1002);
	assert_int_equal(source_read(src, &event, 1, ALL, NULL), 1);
	assert_int_equal(event.type, EVENT_POINT);
	assert_int_equal(source_read(src, &event, 1, ALL, NULL), 1);
	assert_int_equal(event.type, EVENT_LOST);
	assert_int_equal(event.addr, 0);
	assert_int_equal(s.losses.lost, 3 + 4 + 5 + 4 + 5);
	assert_true(s.losses.has_more_lost);
	sources_end(&s);
}

TEST(a_damaged_page_costs_itself)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	char expected[200];
	struct sources s;

	begin(&s, false);
	kernel_page_begin(&page, 1000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	/* The page states more bytes than it has. */
	kernel_page_begin(&page, 2000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0x100000);
	/* The second record reaches beyond the end of the page. */
	kernel_page_begin(&page, 3000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	kernel_page_kind(&page, 28, 0);
	put_page(&bytes, &page, 0);
	kernel_page_begin(&page, 4000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	sources_check(open_pages(&s, &bytes), 9, ALL, "100/0: *@1000.0 *@3000.0 *@4000.0");
	snprintf(expected, sizeof(expected),
		 "cannot read '%s/kernel-cpu4.dat': page at offset 4096: ", s.rec.dir);
	assert_int_equal(strncmp(s.broken.text, expected, strlen(expected)), 0);
	sources_end(&s);
}

/* Write an item that is not a short record. @word: its second word */
static void put_item(struct kernel_page_maker *page, unsigned kind, uint32_t delta, uint32_t word)
{
	kernel_page_kind(page, kind, delta);
	kernel_page_word(page, word);
}

/*
 * The short way for records must not take other items for records, even if many bytes follow them.
 * Such items are a long record, a time extend, a withdrawn record, and a time stamp.
 */
TEST(items_before_many_records)
{
	static const uint64_t times[] = { 1001, 1001 + 5 + (1 << 27), 1003, (3 << 27) + 9 };

	for (unsigned i = 0; i < 4; i++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_page_maker page;
		struct event events[40];
		struct source *src;
		struct sources s;

		begin(&s, false);
		kernel_page_begin(&page, 1000, 8, false);
		if (i == 0) {
			put_item(&page, 0, 1, 4 + 12);
			kernel_page_word(&page, PLAIN);
			kernel_page_word(&page, 100);
			kernel_page_word(&page, 77);
		} else if (i == 1) {
			put_item(&page, 30, 5, 1);
		} else if (i == 2) {
			put_item(&page, 29, 2, 8);
			kernel_page_word(&page, 0);
		} else {
			put_item(&page, 31, 9, 3);
		}
		for (unsigned k = 0; k < 30; k++)
			kernel_page_record(&page, k == 0 && i && i < 3, PLAIN, 100, NULL, 0);
		put_page(&bytes, &page, 0);
		src = open_pages(&s, &bytes);
		assert_int_equal(source_read(src, events, 40, ALL, NULL), i ? 30 : 31);
		for (unsigned k = 0; k < 30; k++) {
			assert_int_equal(events[k].time_ns, times[i]);
			assert_int_equal(events[k].id, PLAIN);
			assert_int_equal(events[k].data_len, i || k ? 8 : 12);
		}
		assert_int_equal(s.broken.code, 0);
		sources_end(&s);
	}
}

/* A short record whose last words are beyond the end of the page's records is damage. */
TEST(a_record_that_is_too_long_for_its_page)
{
	for (unsigned nr = 0; nr <= 3; nr++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_page_maker page;
		struct sources s;

		begin(&s, false);
		kernel_page_begin(&page, 1000, 8, false);
		kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
		kernel_page_kind(&page, nr == 3 ? 3 : 28, 7);
		kernel_page_word(&page, PLAIN);
		for (unsigned i = 1; i < nr; i++)
			kernel_page_word(&page, 100);
		put_page(&bytes, &page, 0);
		sources_check(open_pages(&s, &bytes), 9, ALL,
			      nr == 3 ? "100/0: *@1000.0 *@1007.0" : "100/0: *@1000.0");
		assert_int_equal(s.broken.code, nr == 3 ? 0 : -EBADMSG);
		if (nr < 3)
			assert_non_null(strstr(s.broken.text, "is too long at 28"));
		sources_end(&s);
	}
}

/* The last record of a cut file is most likely incomplete, so no damage is reported. */
TEST(a_page_that_is_cut)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct sources s;

	begin(&s, false);
	kernel_page_begin(&page, 1000, 8, false);
	for (unsigned i = 0; i < 5; i++)
		kernel_page_record(&page, 1, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	bytes.len = 16 + 3 * 12 + 6;
	sources_check(open_pages(&s, &bytes), 9, ALL, "100/0: *@1001.0 *@1002.0 *@1003.0");
	assert_int_equal(s.broken.code, 0);
	sources_end(&s);
}

TEST(an_empty_page_is_the_end)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct sources s;

	begin(&s, false);
	kernel_page_begin(&page, 1000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	kernel_page_begin(&page, 2000, 8, false);
	put_page(&bytes, &page, 0);
	kernel_page_begin(&page, 3000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	sources_check(open_pages(&s, &bytes), 9, ALL, "100/0: *@1000.0");
	sources_end(&s);
}

/* The file is longer than the buffers. Returned events stay valid until the next call. */
TEST(long_files)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	uint64_t expected = 1000;
	struct event events[30];
	struct source *src;
	struct sources s;

	begin(&s, false);
	for (unsigned i = 0; i < 70; i++) {
		kernel_page_begin(&page, 1000 + i * 10, 8, false);
		for (unsigned k = 0; k < 10; k++) {
			const uint32_t words[] = { i * 10 + k };

			kernel_page_record(&page, k > 0, PLAIN, 100, words, 1);
		}
		put_page(&bytes, &page, 0);
	}
	src = open_pages(&s, &bytes);
	for (ssize_t nr; (nr = source_read(src, events, 30, ALL, NULL)) > 0;) {
		for (ssize_t i = 0; i < nr; i++) {
			assert_int_equal(events[i].time_ns, expected);
			assert_int_equal(get_u32(events[i].data + 8, false), expected - 1000);
			expected++;
		}
	}
	assert_int_equal(expected, 1700);
	sources_end(&s);
}

/*
 * The pages of several buffers are skipped after an event. The event's bytes stay until the next
 * read.
 */
TEST(many_pages_that_are_not_wanted)
{
	static const uint32_t about_333[] = { 333 };
	static const uint32_t others[] = { 1 };
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct event event;
	struct source *src;
	struct sources s;

	begin(&s, false);
	for (unsigned i = 0; i <= 80; i++) {
		bool is_wanted = i % 40 == 0;

		kernel_page_begin(&page, 1000 + i, 8, false);
		kernel_page_record(&page, 0, is_wanted ? SWITCH : PLAIN, is_wanted ? 100 : 0,
				   is_wanted ? about_333 : others, 1);
		put_page(&bytes, &page, 0);
	}
	src = open_pages(&s, &bytes);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(source_read(src, &event, 1, ALL, NULL), 1);
		assert_int_equal(event.time_ns, 1000 + 40 * i);
		assert_int_equal(event.id, SWITCH);
		assert_int_equal(event.data_len, 12);
		assert_int_equal(get_u32(event.data + 8, false), 333);
	}
	assert_int_equal(source_read(src, &event, 1, ALL, NULL), 0);
	sources_end(&s);
}

TEST(the_last_time_stands_for_none)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct sources s;

	begin(&s, false);
	kernel_page_begin(&page, UINT64_MAX, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	assert_int_equal(source_next_ns(open_pages(&s, &bytes)), UINT64_MAX - 1);
	sources_end(&s);
}

TEST(what_cannot_be_read_is_told)
{
	struct uft_err err = { 0 };
	struct sources s;
	char path[128];

	begin(&s, false);
	snprintf(path, sizeof(path), "%s/kernel-cpu4.dat", s.rec.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(sources_open(&s, &src_kernel_kind, &err) < 0);
	assert_non_null(strstr(err.text, "kernel-cpu4.dat"));
	rmdir(path);
	sources_end(&s);
}

TEST(a_damaged_header_is_told)
{
	struct sources s;

	sources_begin(&s);
	recording_add_file(&s.rec, "kernel_header", "nonsense\n", 9);
	assert_int_equal(sources_open(&s, &src_kernel_kind, NULL), 0);
	assert_int_equal(s.broken.code, -EBADMSG);
	assert_non_null(strstr(s.broken.text, "kernel_header"));
	sources_end(&s);
}

/* The last page may still be incomplete. */
TEST(a_file_that_grows)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct source *src;
	struct sources s;
	char path[128];
	FILE *file;

	begin(&s, false);
	kernel_page_begin(&page, 1000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	kernel_page_begin(&page, 2000, 8, false);
	kernel_page_record(&page, 0, PLAIN, 100, NULL, 0);
	put_page(&bytes, &page, 0);
	recording_add_file(&s.rec, "kernel-cpu4.dat", bytes.data, bytes.len - 100);
	sources_open_data(&s, true);
	assert_int_equal(sources_open(&s, &src_kernel_kind, NULL), 1);
	src = s.list.all[0];
	sources_check(src, 9, ALL, "100/0: *@1000.0");
	assert_int_equal(source_more(src, NULL), 0);
	assert_int_equal(source_next_ns(src), UINT64_MAX);
	snprintf(path, sizeof(path), "%s/kernel-cpu4.dat", s.rec.dir);
	file = fopen(path, "a");
	fwrite(bytes.data + bytes.len - 100, 1, 100, file);
	fclose(file);
	assert_int_equal(source_more(src, NULL), 0);
	assert_int_equal(source_more(src, NULL), 0);
	sources_check(src, 9, ALL, "100/0: *@2000.0");
	sources_end(&s);
}
